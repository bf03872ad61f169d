# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Templates of conversations, as models come with them: any of them may be broken."""

import datetime

import pytest

pytest.importorskip("jinja2", reason="needs Jinja (Debian: python3-jinja2)")
pytest.importorskip("pydantic", reason="needs pydantic (Debian: python3-pydantic)")

import openatc
from openatc.serve._openai import ChatRequest, RequestError, parse
from openatc.serve._template import load_template


def rendered(folder, template, **message):
    path = folder / "template.jinja"
    path.write_bytes(template if isinstance(template, bytes) else template.encode())
    request = parse(ChatRequest, {"model": "m", "messages": [{"role": "user", "content": "hello", **message}]})
    return load_template(path)(request.messages)


def test_a_template_that_asks_for_the_date(tmp_path):
    text = rendered(tmp_path, "{{ strftime_now('%Y') }} {{ messages[0].content }}{{ tools }}")
    assert text in [f"{datetime.datetime.now().year - i} hello" for i in (0, 1)]


@pytest.mark.parametrize("template", ["{% for m in messages %}", "{{ 'a", b"\xff\xfe", "{{" + "(" * 100000])
def test_what_is_no_template(tmp_path, template):
    with pytest.raises(openatc.Error, match="E10014: '.*template.jinja' is no Jinja template of conversations: .+"):
        rendered(tmp_path, template)


@pytest.mark.parametrize("template, word", [
    ("{{ raise_exception('no tools') }}", "no tools"),
    ("{{ 1 // (messages | length - 1) }}", "zero"),
    ("{{ messages[0].content.index('x') }}", "not found"),
    ("{{ ['a'].pop(5) }}", "immutable|safe|unsafe|out of range"),
    ("{{ messages[3].content }}", "has no element 3"),
    ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
    ("{{ 'x' * 10 ** 17 }}", "MemoryError"),
    ("{{ '%d' % 'x' }}", "format"),
    ("{{ '{9}'.format(1) }}", "index"),
])
def test_messages_that_a_template_refuses(tmp_path, template, word):
    with pytest.raises(RequestError, match=f"chat template (refuses the messages|fails): .*({word})"):
        rendered(tmp_path, template)


@pytest.mark.parametrize("template, word", [
    ("{{ unknown_function(1) }}", "'unknown_function' is undefined"),
    ("{{ messages.__class__.__mro__ | list }}", "unsafe"),
])
def test_a_template_that_fails_whatever_the_messages(tmp_path, template, word):
    with pytest.raises(RequestError, match=f"chat template fails: .*{word}") as raised:
        rendered(tmp_path, template)
    assert raised.value.status == 500
