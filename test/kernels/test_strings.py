# ===-- test_strings.py - strings, regular expressions, n-grams -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
from host_kernels import KernelError, call


def strings(*texts, shape=None):
    array = np.array([text.encode() for text in texts] + [None], object)[:-1]
    return array.reshape(shape if shape is not None else (len(texts),))


def texts(array):
    return [text.decode() for text in array.reshape(-1)]


def matches(pattern, *words):
    return call("RegexFullMatch", strings(*words), pattern=pattern)[0].tolist()


@pytest.mark.parametrize("pattern,yes,no", [
    ("a*b", ["b", "aab"], ["", "a", "aabc"]),
    ("(a|ab)(c|bcd)", ["ac", "abc", "abcd", "abbcd"], ["ab", "abcbcd"]),
    ("a{2,3}", ["aa", "aaa"], ["a", "aaaa"]),
    ("a{,3}", ["a{,3}"], ["aaa", ""]),
    ("(?:ab){2}", ["abab"], ["ab", "ababab"]),
    (r"\d+(\.\d*)?", ["3", "3.", "3.14"], [".5", "3a", ""]),
    (r"\w+@\w+\.(com|org)", ["a@b.com", "me_1@x.org"], ["a@b.net", "@b.com"]),
    ("[^abc]", ["d", "\n", "é"], ["a", "dd", ""]),
    ("[a-c-]+", ["a-c"], ["d"]),
    ("[]x]", ["]", "x"], ["a"]),
    ("[[:alpha:]]+[[:^digit:]]", ["abc!", "ab"], ["ab1"]),
    (".", ["é", "Ж"], ["\n", ""]),
    ("(?s).", ["\n"], [""]),
    ("(?i)straße|ЖУК", ["STRAßE", "жук"], ["strasse"]),
    ("a(?i:b)c", ["aBc", "abc"], ["ABc"]),
    ("(?m)a$\n^b", ["a\nb"], ["ab"]),
    (r"\bab\b.*", ["ab", "ab c"], ["abc"]),
    (r"\Qa.b*\E+", ["a.b*", "a.b**"], ["aab"]),
    (r"\x41\x{e9}\101", ["AéA"], ["AéB"]),
    ("(?P<n>x)|", ["x", ""], ["y"]),
    ("(a*)*", ["", "aaa"], ["b"]),
    ("(|a)+", ["", "aa"], ["b"]),
    ("^$", [""], ["a", "\n"]),
])
def test_regex(pattern, yes, no):
    assert matches(pattern, *yes) == [True] * len(yes)
    assert matches(pattern, *no) == [False] * len(no)


def test_regex_takes_linear_time():
    assert matches("(a*)*(a|aa)*b", "a" * 20000) == [False]
    assert matches("(a?){500}a{500}", "a" * 500) == [True]


@pytest.mark.parametrize("pattern", ["(", ")", "a**", "*a", "[a", "a{3,2}", "a{1001}", "\\", r"\1",
                                     "(?=a)", "[b-a]", r"\pL", "((a{1000}){1000}){1000}",
                                     "(" * 1000 + ")" * 1000, "(?i"])
def test_regex_errors(pattern):
    with pytest.raises(KernelError, match="pattern"):
        matches(pattern, "a")


def test_regex_shapes():
    assert call("RegexFullMatch", strings("a", "b", shape=(1, 2)), pattern="a",
                only_shapes=True) == [(1, 2)]
    assert call("RegexFullMatch", strings(shape=(0, 3)), pattern="a")[0].shape == (0, 3)


def test_normalizer():
    def normalize(array, **attributes):
        return call("StringNormalizer", array, **attributes)[0]
    words = strings("Äpfel", "der", "ÇA", "Жук", "Σίγμα")
    assert texts(normalize(words)) == texts(words)
    assert texts(normalize(words, case_change_action="LOWER")) == [
        "äpfel", "der", "ça", "жук", "σίγμα"]
    assert texts(normalize(words, case_change_action="UPPER")) == [
        "ÄPFEL", "DER", "ÇA", "ЖУК", "ΣΊΓΜΑ"]
    assert texts(normalize(words, stopwords=["DER", "жук"])) == ["Äpfel", "ÇA", "Σίγμα"]
    assert texts(normalize(words, stopwords=["DER", "Жук"], is_case_sensitive=1)) == [
        "Äpfel", "der", "ÇA", "Σίγμα"]
    none = normalize(strings("a", "a", shape=(1, 2)), stopwords=["a"])
    assert none.shape == (1, 1) and texts(none) == [""]
    assert normalize(strings()).shape == (1,)
    assert call("StringNormalizer", words, only_shapes=True) == [(5,)]
    with pytest.raises(KernelError, match="rank 2"):
        normalize(strings("a", "b", shape=(2, 1)))
    with pytest.raises(KernelError, match="case_change_action"):
        normalize(words, case_change_action="TITLE")


def test_concat():
    left, right = strings("a", "", "é", shape=(3, 1)), strings("x", "")
    result, = call("StringConcat", left, right)
    assert result.shape == (3, 2) and texts(result) == ["ax", "a", "x", "", "éx", "é"]
    assert call("StringConcat", strings(shape=(0,)), strings("a"))[0].shape == (0,)
    assert texts(call("StringConcat", strings("a", shape=()), strings("b", shape=()))[0]) == ["ab"]
    with pytest.raises(KernelError, match="dim 0 is 2 and 3"):
        call("StringConcat", strings("a", "b"), strings("a", "b", "c"))


@pytest.mark.parametrize("delimiter,maxsplit", [(None, -1), (None, 1), ("-", -1), ("-", 0),
                                                ("--", 2), ("é", 1)])
def test_split(delimiter, maxsplit):
    words = ["", " a  b\tc ", "a-b--c", "--", "aéb\u3000é", "   "]
    attributes = {} if delimiter is None else {"delimiter": delimiter}
    if maxsplit >= 0:
        attributes["maxsplit"] = maxsplit
    pieces, counts = call("StringSplit", strings(*words), outputs=2, **attributes)
    expected = [word.split(delimiter, maxsplit) for word in words]
    width = max(map(len, expected))
    assert counts.tolist() == list(map(len, expected))
    assert pieces.shape == (len(words), width)
    assert texts(pieces) == [p for e in expected for p in e + [""] * (width - len(e))]


def test_split_shapes():
    pieces, counts = call("StringSplit", strings(shape=(0, 2)), outputs=2)
    assert pieces.shape == (0, 2, 0) and counts.shape == (0, 2)
    assert call("StringSplit", strings("a b"), outputs=2, only_shapes=True) == [(1, 2), (1,)]


POOL = dict(ngram_counts=[0, 3], ngram_indexes=[0, 2, 1, 4], pool_int64s=[1, 2, 3, 5, 6],
            max_gram_length=2)


def test_ngrams():
    data = np.array([[1, 1, 5, 6], [5, 3, 6, 2]], np.int32)
    def count(**attributes):
        return call("TfIdfVectorizer", data, **POOL, **attributes)[0].tolist()
    assert count() == [[2, 0, 0, 0, 1], [0, 1, 1, 0, 0]]
    assert count(max_skip_count=1) == [[2, 0, 0, 0, 1], [0, 1, 1, 0, 1]]
    assert count(min_gram_length=2) == [[0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    weights = [.5, 1., 2., 3., 4.]
    assert count(mode="IDF", weights=weights) == [[.5, 0, 0, 0, 4], [0, 1, 2, 0, 0]]
    assert count(mode="TFIDF", weights=weights) == [[1, 0, 0, 0, 4], [0, 1, 2, 0, 0]]
    words, = call("TfIdfVectorizer", strings("a", "b", "a"), ngram_counts=[0], ngram_indexes=[1, 0],
                  pool_strings=["a", "b"])
    assert words.tolist() == [1, 2]
    assert call("TfIdfVectorizer", data[:, :0], **POOL)[0].tolist() == [[0] * 5, [0] * 5]
    # Lengths that the pool does not have take no time.
    longest = {**POOL, "max_gram_length": 2**63 - 1}
    assert call("TfIdfVectorizer", data, **longest)[0].tolist() == count()
    assert call("TfIdfVectorizer", data, only_shapes=True, **POOL) == [(2, 5)]
    with pytest.raises(KernelError, match="2-grams"):
        call("TfIdfVectorizer", data, **{**POOL, "ngram_counts": [0, 2]})
