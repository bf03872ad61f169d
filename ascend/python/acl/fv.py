# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for feature vectors: descriptions can be made, the search itself is not supported."""

from . import _library
from ._library import LIBRARY

_library.bind_all(globals(), LIBRARY, {
    "create_init_para": "aclfvCreateInitPara p U",
    "destroy_init_para": "aclfvDestroyInitPara e p",
    "set_1n_top_num": "aclfvSet1NTopNum e p I",
    "set_nm_top_num": "aclfvSetNMTopNum e p I",
    "create_feature_info": "aclfvCreateFeatureInfo p I I I I I p I",
    "destroy_feature_info": "aclfvDestroyFeatureInfo e p",
    "create_repo_range": "aclfvCreateRepoRange p I I I I",
    "destroy_repo_range": "aclfvDestroyRepoRange e p",
    "create_query_table": "aclfvCreateQueryTable p I I p I",
    "destroy_query_table": "aclfvDestroyQueryTable e p",
    "create_search_input": "aclfvCreateSearchInput p p p I",
    "destroy_search_input": "aclfvDestroySearchInput e p",
    "create_search_result": "aclfvCreateSearchResult p I p I p p p p I",
    "destroy_search_result": "aclfvDestroySearchResult e p",
    "init": "aclfvInit e p",
    "release": "aclfvRelease e",
})


def _on_default_stream(line):
    function = _library.bind(LIBRARY, line)

    def call(*values):
        return function(*values, None)

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


repo_add = _on_default_stream("aclfvRepoAdd e i p p")
repo_del = _on_default_stream("aclfvRepoDel e i p p")
delete = _on_default_stream("aclfvDel e p p")
modify = _on_default_stream("aclfvModify e p p")
search = _on_default_stream("aclfvSearch e i p p p")
