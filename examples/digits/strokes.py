#===-- strokes.py - how a pen writes the ten digits --------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pen paths of the digits: several ways to write each one.

A style is a list of strokes; the pen is lifted between strokes. A stroke is a list of keys (x, y),
x to the right and y downwards in a box of about 1 x 1, joined by a smooth curve. A key (x, y, 1) is
a sharp corner: the curve ends there and a new one begins.
"""

import numpy as np

# Every style becomes the same number of keys and line segments, so that pictures of different
# digits are computed together as one array.
MAX_KEYS = 22
SEGMENTS = 48

STYLES = {
    0: [
        [[(.52, .02), (.28, .10), (.14, .32), (.13, .58), (.24, .84), (.46, .98), (.68, .91),
          (.84, .68), (.87, .40), (.76, .15), (.52, .02)]],
        # Started at the right, not quite closed.
        [[(.70, .10), (.46, .01), (.24, .16), (.14, .46), (.20, .78), (.42, .97), (.68, .90),
          (.84, .62), (.82, .30), (.62, .08), (.44, .08)]],
        # Narrow.
        [[(.55, .01), (.36, .16), (.28, .46), (.32, .80), (.48, .98), (.64, .84), (.72, .52),
          (.68, .18), (.50, .02)]],
        # Crossed through.
        [[(.52, .02), (.28, .10), (.14, .32), (.13, .58), (.24, .84), (.46, .98), (.68, .91),
          (.84, .68), (.87, .40), (.76, .15), (.52, .02)],
         [(.84, .10), (.18, .90)]],
    ],
    1: [
        [[(.52, .01), (.50, .50), (.48, .99)]],
        [[(.28, .26), (.42, .15), (.55, .01, 1), (.54, .50), (.54, .99)]],
        [[(.28, .24), (.42, .14), (.54, .01, 1), (.54, .98)], [(.26, .98), (.80, .97)]],
        # The long upstroke.
        [[(.14, .48), (.38, .26), (.60, .01, 1), (.58, .50), (.57, .99)]],
    ],
    2: [
        [[(.15, .28), (.27, .08), (.52, .00), (.78, .10), (.83, .31), (.67, .53), (.42, .75),
          (.13, .97, 1), (.90, .95)]],
        # A loop at the foot.
        [[(.16, .26), (.34, .04), (.62, .02), (.79, .20), (.72, .46), (.50, .72), (.26, .94),
          (.12, .92), (.14, .80), (.32, .80), (.58, .94), (.78, .97), (.94, .86)]],
        # Angular.
        [[(.14, .14), (.44, .02), (.74, .08), (.78, .28), (.50, .60), (.12, .95, 1), (.50, .93),
          (.90, .98)]],
        # A swan's neck with a curved base.
        [[(.22, .34), (.22, .14), (.44, .01), (.72, .08), (.76, .30), (.58, .58), (.14, .94, 1),
          (.36, .86), (.62, .96), (.90, .90)]],
    ],
    3: [
        [[(.16, .15), (.40, .01), (.70, .08), (.75, .29), (.60, .43), (.38, .47, 1), (.64, .49),
          (.83, .64), (.80, .86), (.55, .99), (.28, .97), (.10, .84)]],
        # A flat top.
        [[(.14, .04), (.80, .03, 1), (.44, .40, 1), (.72, .46), (.85, .66), (.74, .90), (.44, .99),
          (.12, .88)]],
        # A small loop at the waist.
        [[(.20, .10), (.48, .00), (.73, .12), (.68, .34), (.44, .50), (.32, .46), (.42, .40),
          (.64, .48), (.82, .66), (.76, .90), (.48, .99), (.12, .88)]],
        # Wavy, with no corner at the waist.
        [[(.14, .08), (.46, .01), (.74, .14), (.70, .36), (.52, .46), (.60, .52), (.80, .62),
          (.80, .84), (.52, .98), (.14, .94)]],
    ],
    4: [
        # Open.
        [[(.24, .04), (.13, .56, 1), (.88, .54)], [(.70, .24), (.66, .60), (.62, .99)]],
        # Closed.
        [[(.66, .02, 1), (.10, .66, 1), (.92, .64)], [(.66, .02), (.66, .99)]],
        # A cup and a long downstroke.
        [[(.24, .06), (.17, .38), (.30, .54), (.56, .52), (.78, .34)], [(.82, .04), (.74, .50),
                                                                       (.66, .99)]],
        # One stroke without lifting the pen.
        [[(.20, .60, 1), (.20, .60), (.46, .58), (.88, .56, 1), (.88, .56), (.60, .56, 1),
          (.20, .60, 1), (.40, .32), (.64, .02, 1), (.62, .50), (.60, .99)]],
    ],
    5: [
        [[(.82, .03), (.26, .04, 1), (.20, .43, 1), (.48, .36), (.76, .46), (.85, .70), (.68, .94),
          (.38, .99), (.10, .88)]],
        # The hat comes last.
        [[(.28, .08), (.22, .44, 1), (.50, .38), (.78, .50), (.82, .76), (.58, .97), (.28, .98),
          (.10, .88)], [(.28, .07), (.58, .05), (.88, .01)]],
        # No corners.
        [[(.82, .04), (.52, .02), (.28, .14), (.25, .36), (.48, .46), (.74, .56), (.80, .78),
          (.56, .97), (.14, .91)]],
        # A short hat, set apart.
        [[(.26, .14), (.24, .46, 1), (.46, .40), (.72, .50), (.78, .74), (.56, .96), (.16, .94)],
         [(.34, .06), (.80, .04)]],
    ],
    6: [
        [[(.70, .03), (.42, .18), (.21, .46), (.15, .74), (.30, .96), (.58, .98), (.80, .82),
          (.74, .60), (.50, .53), (.28, .62), (.17, .76)]],
        # A straight back.
        [[(.58, .01), (.32, .40), (.17, .72), (.26, .94), (.52, .98), (.72, .82), (.66, .62),
          (.44, .60), (.22, .76)]],
        # A hook at the top.
        [[(.80, .14), (.64, .02), (.40, .10), (.20, .40), (.14, .72), (.34, .97), (.62, .96),
          (.82, .78), (.70, .56), (.44, .52), (.20, .68)]],
        # A small, tight loop.
        [[(.36, .01), (.26, .36), (.24, .70), (.36, .94), (.58, .97), (.72, .84), (.64, .68),
          (.46, .68), (.28, .82)]],
    ],
    7: [
        [[(.12, .05), (.86, .04, 1), (.58, .46), (.40, .99)]],
        # Crossed.
        [[(.12, .06), (.86, .04, 1), (.58, .46), (.42, .99)], [(.32, .52), (.80, .48)]],
        # A serif.
        [[(.15, .24), (.15, .06, 1), (.86, .06, 1), (.60, .50), (.46, .99)]],
        # A wave.
        [[(.10, .14), (.28, .03), (.54, .10), (.86, .03, 1), (.58, .44), (.48, .99)]],
    ],
    8: [
        # One stroke from the top right.
        [[(.76, .17), (.52, .01), (.27, .11), (.29, .32), (.54, .50), (.79, .70), (.73, .92),
          (.48, .99), (.24, .90), (.22, .70), (.48, .48), (.72, .31), (.76, .14)]],
        # Two rings.
        [[(.50, .48), (.27, .38), (.26, .14), (.50, .01), (.74, .13), (.73, .37), (.50, .48)],
         [(.50, .48), (.22, .60), (.18, .84), (.48, .99), (.79, .86), (.78, .61), (.50, .48)]],
        # Open at the top.
        [[(.82, .08), (.54, .03), (.28, .16), (.34, .36), (.60, .54), (.78, .74), (.66, .95),
          (.40, .98), (.22, .82), (.36, .58), (.60, .36), (.72, .04)]],
        # From the middle, with a small head.
        [[(.50, .42), (.32, .30), (.34, .09), (.54, .02), (.70, .14), (.66, .34), (.40, .50),
          (.16, .70), (.26, .94), (.54, .99), (.80, .86), (.76, .62), (.48, .42)]],
    ],
    9: [
        # A straight stem.
        [[(.80, .22), (.60, .03), (.33, .06), (.17, .26), (.28, .47), (.56, .47), (.80, .22, 1),
          (.77, .60), (.72, .99)]],
        # A curved tail.
        [[(.80, .28), (.70, .07), (.44, .01), (.20, .16), (.22, .42), (.48, .50), (.72, .36),
          (.80, .18), (.82, .52), (.68, .86), (.44, .98), (.16, .93)]],
        # A leaning stem.
        [[(.76, .10), (.50, .02), (.24, .18), (.22, .42), (.46, .50), (.72, .32), (.82, .06, 1),
          (.68, .52), (.50, .99)]],
        # A small head on a long tail.
        [[(.70, .22), (.56, .04), (.34, .08), (.28, .28), (.44, .40), (.64, .32), (.72, .14),
          (.74, .44), (.66, .76), (.54, .99)]],
    ],
}


def _split_at_corners(stroke):
    """The runs of key indices of one stroke, each smooth in itself."""
    runs, run = [], [0]
    for index in range(1, len(stroke)):
        run.append(index)
        if len(stroke[index]) == 3 and index + 1 < len(stroke):
            runs.append(run)
            run = [index]
    runs.append(run)
    return runs


def _curve_weights(keys, run, points):
    """[points, MAX_KEYS] weights of a Catmull-Rom curve through the keys of one run.

    The points of a curve are a linear function of its keys, so a style is one small matrix.
    """
    weights = np.zeros((points, MAX_KEYS))
    chords = np.hypot(*np.diff(keys[run], axis=0).T)
    ends = np.concatenate([[0.0], np.cumsum(chords)])
    for row, place in enumerate(np.linspace(0.0, ends[-1], points)):
        span = min(int(np.searchsorted(ends, place, side="right")) - 1, len(run) - 2)
        t = (place - ends[span]) / max(chords[span], 1e-9)
        basis = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3,
                 t**3 - t**2)
        for offset, weight in zip((-1, 0, 1, 2), basis):
            weights[row, run[min(max(span + offset, 0), len(run) - 1)]] += 0.5 * weight
    return weights


def compile_style(style):
    """(keys [MAX_KEYS, 2], weights [SEGMENTS + 1, MAX_KEYS], drawn [SEGMENTS]) of one style.

    `weights @ keys` are the points of the whole path, and segment i joins points i and i + 1.
    `drawn` is False where the pen is in the air.
    """
    keys = np.zeros((MAX_KEYS, 2))
    runs, first = [], 0
    for stroke in style:
        keys[first:first + len(stroke)] = [key[:2] for key in stroke]
        for number, run in enumerate(_split_at_corners(stroke)):
            runs.append((number == 0, [first + index for index in run]))
        first += len(stroke)

    # Segments are shared out by length; between two strokes one segment goes through the air.
    lengths = np.array([np.hypot(*np.diff(keys[run], axis=0).T).sum() for _, run in runs])
    available = SEGMENTS - (len(style) - 1)
    shares = np.maximum(1, np.floor(lengths / lengths.sum() * available).astype(int))
    while shares.sum() > available:
        shares[np.argmax(shares)] -= 1
    while shares.sum() < available:
        shares[np.argmax(lengths / shares)] += 1

    rows, drawn = [], []
    for (starts_stroke, run), share in zip(runs, shares):
        curve = _curve_weights(keys, run, share + 1)
        if starts_stroke:
            drawn += [False] if rows else []
            rows.append(curve)
        else:
            rows.append(curve[1:])  # A corner is the last point of the run before it.
        drawn += [True] * share
    return keys, np.concatenate(rows), np.array(drawn)
