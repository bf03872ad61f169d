# ===-- clear_folders.py - a plug-in of pytest: temporary folders end with their tests -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removes the folder of each test that passed, and at the end everything if none failed. By itself
pytest keeps the folders of its last three runs, which are gigabytes of models here."""

import shutil

import pytest


@pytest.fixture(scope="session", autouse=True)
def clear_all(request, tmp_path_factory):
    yield
    if not request.session.testsfailed:
        shutil.rmtree(tmp_path_factory.getbasetemp(), ignore_errors=True)


@pytest.fixture(autouse=True)
def clear_folder(request):
    failed = request.session.testsfailed
    yield
    folder = request.node.funcargs.get("tmp_path")
    # A failure is counted before the fixtures of its test end.
    if folder is not None and request.session.testsfailed == failed:
        shutil.rmtree(folder, ignore_errors=True)
