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


# What tf.strings.to_hash_bucket_fast and to_hash_bucket_strong (key 133, 137) return for 2^62 buckets.
HASHES = [
    (b"", 1936946117179621455, 316627932347062996),
    (b"a", 3694432073954588131, 2466253977694453450),
    (b"abc", 2640714258260161385, 2288159068006480041),
    (b"abcd", 1897425971756105985, 3196519216900852167),
    (b"abcdefgh", 4533385575889643785, 210173030064361732),
    (b"x" * 16, 3320895591121647644, 3062600254328431651),
    (b"0123456789abcdefg", 2800675501336285770, 2112349501170619355),
    (b"y" * 32, 2351315479247125839, 1739609714814096713),
    (b"the quick brown fox jumps over the lazy d", 930670237687877720, 4066188635944841267),
    (b"z" * 64, 294799756062990872, 3484376427546784575),
    (bytes(range(65)), 478270155923209662, 2379031477633451897),
    (bytes(range(200)), 525935771297148851, 601623486273693461),
    (bytes(i % 251 for i in range(1000)), 2007014679668576161, 1634645056716981621),
]


def test_hashes():
    words = np.array([word for word, _, _ in HASHES] + [None], object)[:-1]
    fast, = call("StringHash", words, buckets=1 << 62)
    assert fast.tolist() == [value for _, value, _ in HASHES]
    strong, = call("StringHash", words, buckets=1 << 62, key=[133, 137])
    assert strong.tolist() == [value for _, _, value in HASHES]
    few, = call("StringHash", words.reshape(1, -1), buckets=1 << 31)
    assert few.tolist() == [[value % (1 << 31) for _, value, _ in HASHES]]
    assert call("StringHash", strings(shape=(0, 2)), buckets=1)[0].shape == (0, 2)
    with pytest.raises(KernelError, match="0 buckets"):
        call("StringHash", words, buckets=0)
    with pytest.raises(KernelError, match="key of 1 words"):
        call("StringHash", words, buckets=1, key=[1])


def test_crossed_hashes():
    # TensorFlow: tf.sparse.cross_hashed([[[5, -1], [7, 0]], [["a"], ["bc"]]], num_buckets=1000, hash_key=17).
    numbers, first = np.array([5, -1, 7, 0], "i8"), np.array([17, 17], "i8")
    begins, hashes = call("CrossHash", np.arange(3), first, np.array([0, 2, 4]), numbers, outputs=2)
    assert begins.tolist() == [0, 2, 4]
    begins, hashes = call("CrossHash", begins, hashes, np.arange(3), strings("a", "bc"), buckets=1000, outputs=2)
    assert begins.tolist() == [0, 2, 4] and hashes.tolist() == [949, 188, 133, 68]
    # The begins alone, which another operator may ask for.
    begins, = call("CrossHash", begins, hashes, np.arange(3), strings("a", "bc"))
    assert begins.tolist() == [0, 2, 4]
    # A row without features has no crosses.
    begins, hashes = call("CrossHash", np.arange(3), first, np.array([0, 0, 1]), numbers[:1], outputs=2)
    assert begins.tolist() == [0, 0, 1] and hashes.shape == (1,)
    with pytest.raises(KernelError, match="row 1 begins at 5, which is not in order"):
        call("CrossHash", np.arange(3), first, np.array([0, 5, 4]), numbers, outputs=2)
    with pytest.raises(KernelError, match="2 features beyond its 2 rows"):
        call("CrossHash", np.arange(3), first, np.array([0, 1, 2]), numbers, outputs=2)
    with pytest.raises(KernelError, match="-1 buckets"):
        call("CrossHash", np.arange(3), first, np.array([0, 2, 4]), numbers, buckets=-1, outputs=2)
    with pytest.raises(KernelError, match="starts"):
        call("CrossHash", np.arange(3), first, np.array([0, 2]), numbers, outputs=2)


@pytest.mark.parametrize("pattern,rewrite,expected", [
    ("a|ab", "X", ["XbcXXb", "foo food XXX", "éXЖ X", "", "X\\b"]),
    ("a*", "-", ["-b-c-b-", "-f-o-o- -f-o-o-d- -", "-é-Ж- -", "-", "-\\-b-"]),
    ("(a+?)(b*)", r"<\0>", ["<ab>c<a><ab>", "foo food <a><a><a>", "é<a>Ж <a>", "", r"<a>\b"]),
    ("", ".", [".a.b.c.a.a.b.", ".f.o.o. .f.o.o.d. .a.a.a.", ".é.a.Ж. .a.", ".", r".a.\.b."]),
    (r"\bfoo\b", "B", ["abcaab", "B food aaa", "éaЖ a", "", r"a\b"]),
    ("x*?", "2", ["2a2b2c2a2a2b2", "2f2o2o2 2f2o2o2d2 2a2a2a2", "2é2a2Ж2 2a2", "2", r"2a2\2b2"]),
    ("(ab|a)(bc)?", "_", ["_c__", "foo food ___", "é_Ж _", "", r"_\b"]),
    ("$", "E", ["abcaabE", "foo food aaaE", "éaЖ aE", "E", r"a\bE"]),
    ("^a", "S", ["Sbcaab", "foo food aaa", "éaЖ a", "", r"S\b"]),
    ("[éЖ]", "U", ["abcaab", "foo food aaa", "UaU a", "", r"a\b"]),
    ("(?U)a+", "g", ["gbcggb", "foo food ggg", "égЖ g", "", r"g\b"]),
    (r"\\", r"\\\\", ["abcaab", "foo food aaa", "éaЖ a", "", r"a\\b"]),
])
def test_replace(pattern, rewrite, expected):
    """The answers are those of tf.strings.regex_replace."""
    words = strings("abcaab", "foo food aaa", "éaЖ a", "", r"a\b")
    assert texts(call("RegexReplace", words, pattern=pattern, rewrite=rewrite)[0]) == expected


def test_replace_once_and_errors():
    once = dict(pattern="a{1,2}?", rewrite="[\\0]", all=0)
    assert texts(call("RegexReplace", strings("baab", "b"), **once)[0]) == ["b[a]ab", "b"]
    for rewrite in ("\\1", "\\", "\\x"):
        with pytest.raises(KernelError, match="backslash|names group"):
            call("RegexReplace", strings("a"), pattern="a", rewrite=rewrite)
    with pytest.raises(KernelError, match="pattern"):
        call("RegexReplace", strings("a"), pattern="(")


def test_replace_takes_linear_time():
    word = "a" * 20000
    assert texts(call("RegexReplace", strings(word), pattern="(a*)*b", rewrite="")[0]) == [word]


def test_case_strip_and_length():
    words = strings("aZ[`{@Àé", " \t\x0b\x0c\r\na b\n", "", "\u00a0x\x1c")
    assert texts(call("StringCase", words)[0]) == ["az[`{@Àé", " \t\x0b\x0c\r\na b\n", "", "\u00a0x\x1c"]
    assert texts(call("StringCase", words, upper=1)[0])[:2] == ["AZ[`{@Àé", " \t\x0b\x0c\r\nA B\n"]
    assert texts(call("StringStrip", words)[0]) == ["aZ[`{@Àé", "a b", "", "\u00a0x\x1c"]
    assert call("StringLength", words)[0].tolist() == [10, 10, 0, 4]
    assert call("StringLength", words, characters=1)[0].tolist() == [8, 10, 0, 3]


def test_case_of_unicode():
    def cased(*words, **attributes):
        return texts(call("StringCase", strings(*words), unicode=1, **attributes)[0])
    assert cased("aZ[À", "ΟΔΥΣΣΕΥΣ ΣΑ Α.Σ", "İ", "𐐀", "") == ["az[à", "οδυσσευς σα α.ς", "i\u0307", "𐐨", ""]
    assert cased("straße ŉ ﬃ", "𐐨é", upper=1) == ["STRASSE \u02bcN FFI", "𐐀É"]
    # Bytes that are no character stay.
    broken = np.array([b"\xffa\xc3", None], object)[:1]
    assert call("StringCase", broken, unicode=1, upper=1)[0].tolist() == [b"\xffA\xc3"]


def fields(*rows, parts, **attributes):
    return [part.tolist() for part in call("CsvFields", strings(*rows), outputs=parts, **attributes)]


def column(*rows, otherwise=np.array([b"-", None], object)[:1], **attributes):
    return call("CsvValues", strings(*rows), otherwise, **attributes)[0].tolist()


def test_columns_of_records():
    rows = '1,"a ""b"", c",', '"","",3', '\n-7,x,"""y"""'
    expected = [[b"1", b"", b"-7"], [b'a "b", c', b"", b"x"], [b"", b"3", b'"y"']]
    assert fields(*rows, parts=3) == expected
    assert fields(*rows, parts=2, columns=[0, 2]) == expected[::2]
    assert fields(*rows, "no,more", parts=1, columns=[1]) == [expected[1] + [b"more"]]
    assert fields(*rows, parts=2, columns=[0, 2], fields=3) == expected[::2]
    assert fields('1;"2;NA', parts=3, delimiter=";", quotes=0) == [[b"1"], [b'"2'], [b"NA"]]
    assert column("1", "", "-7", otherwise=np.array([5], "i8")) == [1, 5, -7]
    assert column("x", "", "NA", absent="NA") == [b"x", b"-", b"-"]
    assert column("1.5", "", otherwise=np.array([9], "f4")) == [1.5, 9]


@pytest.mark.parametrize("row,attributes,message", [
    ("1,2", dict(parts=3), "record 0 has 2 fields, expected 3"),
    ("1,2", dict(parts=1), "record 0 has 2 fields, expected 1"),
    ("1", dict(parts=1, columns=[3]), "record 0 has 1 fields, expected 4"),
    ("1,2,3", dict(parts=1, columns=[0], fields=2), "record 0 has 3 fields, expected 2"),
    ("1", dict(parts=1, columns=[0], fields=2), "record 0 has 1 fields, expected 2"),
    ("1", dict(parts=1, columns=[-1]), "column -1 does not rise"),
    ("1", dict(parts=2, columns=[1, 1]), "column 1 does not rise"),
    ("1", dict(parts=1, columns=[0, 1]), "there are 2 columns for 1 outputs"),
    ("", dict(parts=1), "record 0 has 0 fields, expected 1"),
    ('a"b', dict(parts=1), "has a quote or the end of a line inside"),
    ('"ab', dict(parts=1), "does not end with a quote"),
    ('"a"b', dict(parts=1), "does not end with a quote")])
def test_records_that_are_none(row, attributes, message):
    with pytest.raises(KernelError, match=message):
        fields(row, **attributes)


@pytest.mark.parametrize("text,otherwise,message", [
    ("1.5", np.array([1], "i4"), "no number of the column's type"),
    ("4000000000", np.array([1], "i4"), "no number of the column's type"),
    ("", np.zeros(0, "f4"), "is missing, and the column has no default")])
def test_fields_that_are_no_numbers(text, otherwise, message):
    with pytest.raises(KernelError, match=message):
        column(text, otherwise=otherwise)


def test_bytes_of_a_length():
    words = strings("abcd", "x", "")
    assert call("TextBytes", words, to=2, length=3)[0].tolist() == [[97, 98, 99], [120, 0, 0], [0, 0, 0]]
    assert call("TextBytes", words, to=5, length=2, swap=1)[0].tolist() == [[0x6162], [0x7800], [0]]


def test_substring():
    def part(word, begin, length, **attributes):
        return texts(call("Substring", strings(word), np.array(begin), np.array(length), **attributes)[0])[0]
    assert [part("hello", 1, 3), part("hello", -3, 2), part("hello", 5, 2), part("hello", -5, 100)] == [
        "ell", "ll", "", "hello"]
    assert part("hé€llo", 1, 2, characters=1) == "é€"
    assert part("hé€llo", -3, 1 << 62, characters=1) == "llo"
    assert texts(call("Substring", strings("ab", "cd"), np.array([1, 0]), np.array([1, 5]))[0]) == ["b", "cd"]
    for begin in (6, -6, -1 << 63):
        with pytest.raises(KernelError, match="out of range"):
            part("hello", begin, 1)
    with pytest.raises(KernelError, match="negative"):
        part("hello", 1, -1)
    with pytest.raises(KernelError, match="2 positions"):
        call("Substring", strings("a", "b", "c"), np.array([0, 0]), np.array(1))


def test_ascii_split():
    pieces, counts = call("StringSplit", strings("\u00a0q\x1cw\x0bz ", " "), outputs=2, ascii=1)
    assert counts.tolist() == [2, 0] and texts(pieces) == ["\u00a0q\x1cw", "z", "", ""]


def test_ragged_to_dense():
    def dense(values, rows, count, width, fallback=0):
        return call("RaggedToDense", np.array(values, "f4"), np.array(fallback, "f4"), np.array(count),
                    np.array(rows, "i8"), np.array([width]))[0].tolist()
    assert dense([1, 2, 3], [0, 0, 2], 4, -1) == [[1, 2], [0, 0], [3, 0], [0, 0]]
    assert dense([1, 2, 3], [0, 0, 2], 3, 1, -7) == [[1], [-7], [3]]
    assert dense([], [], 2, 2) == [[0, 0], [0, 0]] and dense([], [], 2, -1) == [[], []]
    for rows in ([0, 3, 3], [1, 0, 0], [-1, 0, 0]):
        with pytest.raises(KernelError, match="out of order"):
            dense([1, 2, 3], rows, 3, -1)


def tokens(*words, **attributes):
    attributes = {"mark": 0, "mincharnum": 1, "pad_value": "#", **attributes}
    got, = call("Tokenizer", strings(*words), **attributes)
    return [texts(row) for row in got]


def test_tokens_that_match():
    assert tokens("a bb, c", "", "ddd  e", tokenexp="[a-z]+") == [
        ["a", "bb", "c"], ["#"] * 3, ["ddd", "e", "#"]]
    # The longest match counts, not the first one of a search with backtracking.
    assert tokens("a bbb, c", "", "abcd", mincharnum=2, tokenexp="[a-z]+?") == [
        ["bbb"], ["#"], ["abcd"]]
    assert tokens("ab", tokenexp="a|ab") == [["ab"]]
    assert tokens("a bb, c", "", tokenexp="[a-z]*") == [["a", "bb", "c"], ["#"] * 3]
    assert tokens("a bb, c", "", mincharnum=2, mark=1, tokenexp="[a-z]*") == [
        ["\x02", "bb", "\x03"], ["\x02", "\x03", "#"]]
    assert tokens("a b", "cd", mincharnum=2, tokenexp="[a-z]") == [[], []]


def test_tokens_between_separators():
    marks = ["\x02", "\x03"] + ["#"] * 4
    assert tokens("a bb, c;d", "", ";,", mark=1, separators=[" ", ",", ";"]) == [
        ["\x02", "a", "bb", "c", "d", "\x03"], marks, marks]
    assert tokens("a bb, c;d", "éa", mincharnum=2, separators=[" "]) == [["bb,", "c;d"],
                                                                        ["éa", "#"]]
    assert tokens("a--b-c", separators=["-|--"]) == [["a", "b", "c"]]
    assert tokens("a bb", separators=["x*"]) == [[]]
    assert tokens("", ";", mark=1, separators=[";"]) == [[], []]


def test_tokens_of_one_character():
    want = [["\x02", "a", " ", "é", "\n", "\x03"], ["\x02", "\x03"] + ["#"] * 4]
    assert tokens("a é\n", "", mark=1, separators=[""]) == want
    assert tokens("a é\n", "", mark=1, tokenexp=".") == want


def test_shapes_of_tokens():
    attributes = dict(mark=1, mincharnum=1, pad_value="#", separators=[";"])
    assert call("Tokenizer", strings("a;b", "c", shape=(1, 2)), **attributes)[0].shape == (1, 2, 4)
    assert call("Tokenizer", strings(shape=(0,)), **attributes)[0].shape == (0,)
    assert call("Tokenizer", strings(shape=(2, 0)), **attributes)[0].shape == (2, 0)
    for wrong, message in ((dict(separators=[]), "either tokenexp or separators"),
                           (dict(tokenexp="a"), "either tokenexp or separators"),
                           (dict(mincharnum=0), "mincharnum is 0"),
                           (dict(mincharnum=2, separators=[""]), "mincharnum is 2"),
                           (dict(separators=["("]), "")):
        with pytest.raises(KernelError, match=message):
            call("Tokenizer", strings("a"), **{**attributes, **wrong})


@pytest.mark.parametrize("value, digits, expected", [
    (0.5, 0, "0"), (1.5, 0, "2"), (2.5, 0, "2"), (-0.0, 1, "-0.0"), (0.1, 20, "0.10000000000000000555"),
    (5e-324, 60, "0." + "0" * 60), (1e300, 3, f"{1e300:.3f}"), (2.0 ** 64, 0, "18446744073709551616"),
    (0.999999, 3, "1.000"), (123456789.987654321, 6, f"{123456789.987654321:.6f}")])
def test_fixed_digits(value, digits, expected):
    assert texts(call("FormatNumber", np.array([value]), digits=digits)[0]) == [expected]


def test_random_fixed_digits():
    random = np.random.default_rng(8)
    values = random.standard_normal(200) * 10.0 ** random.integers(-20, 30, 200)
    for digits in (0, 1, 6, 17):
        assert texts(call("FormatNumber", values, digits=digits)[0]) == [f"{v:.{digits}f}" for v in values]


@pytest.mark.parametrize("digits", [0, 1, 6, 17, 60])
def test_notations_are_those_of_printf(digits):
    random = np.random.default_rng(9)
    values = np.concatenate([random.standard_normal(100) * 10.0 ** random.integers(-300, 300, 100),
                             [0.0, -0.0, 5e-324, 1.7976931348623157e308, 9.5, 99.5, 999999.5, 0.0001, 0.00001, 1e5, 1e6,
                              2.5, 0.125, np.inf, -np.inf, np.nan, 1.0]])
    for notation, letter in (("fixed", "f"), ("scientific", "e"), ("shortest", "g")):
        for fill in ("", "#", "+", "-", "0", " "):
            got = texts(call("FormatNumber", values, digits=digits, notation=notation, fill=fill, width=12)[0])
            # Python fills up infinities by zeros, too.
            flags = [fill if np.isfinite(v) or fill != "0" else "" for v in values]
            assert got == [f"%{flag}12.{digits}{letter}" % v for flag, v in zip(flags, values)]


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"])
def test_numbers_without_sign_have_no_flags_of_signs(dtype):
    values = np.array([0, 7, 42, 100], dtype)
    for fill in "+ 0-#":
        flag = fill if dtype[0] == "i" or fill not in "+ " else ""
        got = texts(call("FormatNumber", values, fill=fill, width=5)[0])
        assert got == [f"%{flag}5d" % int(v) for v in values]


def test_murmur_hashes():
    got, = call("MurmurHash", strings("", "test", "Hello, world!"))
    assert got.tolist() == [0, 0xba6bd213, 0xc0363e43]
    got, = call("MurmurHash", strings("", "test"), seed=0x9747b28c)
    assert got.tolist() == [0xebb6c228, 0x704b81dc]


@pytest.mark.parametrize("text", ["a", "abcde", "a+/a", "ab=c", "===="])
def test_no_base64(text):
    with pytest.raises(KernelError, match="no base64"):
        call("Base64", strings(text), decode=1)


def test_bytes_need_texts_of_one_length():
    with pytest.raises(KernelError, match="text 1 has 3 bytes, the first one 2"):
        call("TextBytes", strings("ab", "abc"), to=2)
    with pytest.raises(KernelError, match="not made of numbers of 4"):
        call("TextBytes", strings("abc"), to=1)


def test_short_rows_keep_their_pads():
    grams, begins = call("StringNGrams", strings("a", "b", "c"), np.array([0, 1, 3], "i8"), outputs=2, widths=[5],
                         separator="|", left_pad="L", right_pad="R", pad_width=1, preserve_short=1)
    assert texts(grams) == ["L|a|R", "L|b|c|R"] and begins.tolist() == [0, 1, 2]
    with pytest.raises(KernelError, match="pads are more than"):
        call("StringNGrams", strings("a"), np.array([0, 1], "i8"), outputs=2, widths=[5], pad_width=1 << 40)


def test_characters_and_segments_are_checked():
    # Of control characters those below the space are replaced, as TensorFlow does.
    _, codes = call("TextCharacters", strings("a\x01\x7f\u0085"), outputs=2, replace_controls=1)
    assert codes.tolist() == [97, 0xfffd, 0x7f, 0x85]
    stray = np.array([b"a\xff", None], object)[:1]
    with pytest.raises(KernelError, match="no UTF-8"):
        call("TextCharacters", stray, outputs=2, strict=1)
    with pytest.raises(KernelError, match="from 0 to 3, of 2"):
        call("CharactersText", np.array([97, 98], "i4"), np.array([0, 3], "i8"))
    with pytest.raises(KernelError, match="55296 is no character"):
        call("CharactersText", np.array([0xd800], "i4"), np.array([0, 1], "i8"), strict=1)
    with pytest.raises(KernelError, match="segment 2 is not one of 2"):
        call("SegmentJoin", strings("a"), np.array([2], "i8"), np.array(2, "i8"))
    with pytest.raises(KernelError, match="not in order"):
        call("StringNGrams", strings("a", "b"), np.array([0, 3], "i8"), outputs=2, widths=[2])


def test_groups_of_rewrites_are_checked():
    with pytest.raises(KernelError, match="names group 2 of a pattern that has 1"):
        call("RegexReplace", strings("a"), pattern="(a)(?:b)?", rewrite=r"\2")
    with pytest.raises(KernelError, match="backslash"):
        call("RegexReplace", strings("a"), pattern="a", rewrite="\\")
    # Groups are copied with what is repeated; what takes no part is empty.
    assert texts(call("RegexReplace", strings("abab ac"), pattern="(?:(a)(b)|(c)){2,3}", rewrite=r"<\1\3>")[0]) == ["<a> ac"]
    assert texts(call("RegexReplace", strings("a" * 3000), pattern="(a*)*(a|aa)*b?", rewrite=r"[\2]")[0])[0][0] == "["


def field(number, wire, value):
    """A field of a protocol buffer's message: a number, or bytes behind their length."""
    tag = bytes([number << 3 | wire])
    return tag + (varint(value) if wire == 0 else varint(len(value)) + value if wire == 2 else value)


def varint(value):
    value %= 1 << 64
    return bytes([value]) if value < 128 else bytes([value % 128 | 128]) + varint(value >> 7)


def example(**features):
    """A message of TensorFlow's type Example, of the bytes of each feature."""
    entries = b"".join(field(1, 2, field(1, 2, name.encode()) + field(2, 2, value)) for name, value in features.items())
    return field(1, 2, entries)


def test_features_of_examples():
    floats = field(2, 2, field(1, 2, np.float32([1.5, -2]).tobytes()))
    one_by_one = field(2, 2, field(1, 5, np.float32(3).tobytes()) + field(1, 5, np.float32(4).tobytes()))
    integers = field(3, 2, field(1, 2, varint(7) + varint(-1)) + field(1, 0, 2**40))
    words = field(1, 2, field(1, 2, b"a") + field(1, 2, b"") + field(1, 2, "Ω".encode()))
    records = np.array([example(f=floats, i=integers, other=words), example(s=words), example(i=b"", f=one_by_one)],
                       object)
    values, counts = call("ExampleFeature", records, outputs=2, key="f")
    assert (values.dtype, values.tolist(), counts.tolist()) == (np.float32, [1.5, -2, 3, 4], [2, 0, 2])
    values, counts = call("ExampleFeature", records, outputs=2, key="i", to=7)
    assert (values.dtype, values.tolist(), counts.tolist()) == (np.int64, [7, -1, 2**40], [3, 0, 0])
    values, counts = call("ExampleFeature", records, outputs=2, key="s", to=8)
    assert (texts(values), counts.tolist()) == (["a", "", "Ω"], [0, 3, 0])
    values, counts = call("ExampleFeature", records, np.float32([8, 9]), outputs=2, key="f", size=2)
    assert (values.tolist(), counts.tolist()) == ([1.5, -2, 8, 9, 3, 4], [2, 2, 2])
    # Of several the last one counts, also of the lists of a feature.
    twice = np.array([example(f=value) for value in (floats, words, one_by_one)], object).sum(keepdims=True)
    assert call("ExampleFeature", twice, outputs=2, key="f")[0].tolist() == [3, 4]


def test_features_that_examples_do_not_have():
    floats = field(2, 2, field(1, 2, np.float32([1.5, -2]).tobytes()))
    records = np.array([example(f=floats), example()], object)
    for keys, said in (({"key": "f", "size": 2}, "Example 1 lacks the feature"),
                       ({"key": "f", "size": 3}, "Example 0 has 2 values, expected 3"),
                       ({"key": "f", "to": 7}, "Example 0 holds values of another type"),
                       ({"key": "f", "to": 11}, "type")):
        with pytest.raises(KernelError, match=said):
            call("ExampleFeature", records, outputs=2, **keys)
    whole = example(f=floats, g=floats)
    for size in range(1, len(whole)):
        with pytest.raises(KernelError, match="text 0 is no Example"):
            call("ExampleFeature", np.array([whole[:size]], object), outputs=2, key="f")
    for wrong in (field(1, 1, bytes(8)), field(1, 5, bytes(4))):
        with pytest.raises(KernelError, match="text 0 is no Example"):
            call("ExampleFeature", np.array([example(i=field(3, 2, wrong))], object), outputs=2, key="i", to=7)


def recording(samples, channels=1, rate=16000, bits=16, extra=b""):
    data = np.asarray(samples, "<i2").tobytes()
    form = np.array([1, channels], "<u2").tobytes() + np.array([rate, 0], "<u4").tobytes() + np.array([0, bits], "<u2").tobytes()
    parts = b"WAVEfmt " + np.uint32(len(form)).tobytes() + form + extra + b"data" + np.uint32(len(data)).tobytes() + data
    return np.array(b"RIFF" + np.uint32(len(parts)).tobytes() + parts, object)


def test_recordings():
    values, rate = call("WavDecoder", recording([16384, -32768, 1], extra=b"LIST\3\0\0\0abc\0"), outputs=2)
    assert (values.tolist(), rate.tolist()) == ([[0.5], [-1], [2**-15]], 16000)
    both = recording([16384, -16384, 8192, 0], channels=2, rate=44100)
    values, rate = call("WavDecoder", both, outputs=2, channels=3, samples=3)
    assert values.tolist() == [[0.5, -0.5, -0.5], [0.25, 0, 0], [0, 0, 0]] and rate == 44100
    assert call("WavDecoder", both, outputs=2, channels=1, samples=1)[0].tolist() == [[0.5]]


@pytest.mark.parametrize("file, said", [(np.array(b"RIFF....WAV", object), "no recording"),
                                        (recording([1], bits=8), "no samples of 16 bits"),
                                        (np.array(recording([1, 2]).item()[:-1], object), "has 3 bytes of 4"),
                                        (np.array(recording([1]).item()[:36], object), "has no samples")])
def test_no_recordings(file, said):
    with pytest.raises(KernelError, match=said):
        call("WavDecoder", file, outputs=2)


def test_numbers_of_a_width_below_zero():
    """The difference to the size of the number overflowed."""
    lowest = -2**63
    assert texts(call("FormatNumber", np.array([7, -12]), width=lowest)[0]) == ["7", "-12"]
