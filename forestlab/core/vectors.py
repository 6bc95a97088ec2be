"""Sixteen numbers as one value, for the loops in which a fit spends its time.

LLVM makes vectors of plain loops where they are long and it can tell that no two arrays overlap;
the loops of small nodes are neither. So these say what is meant, and stay in registers. Without
compilation they are numpy's arrays, which behave alike.

*Lanes* are sixteen whole numbers of 32 bits, without a sign when compared; or sixteen floats, or
*short* ones of 32 bits, with which only what is exact is calculated; a *mask* is sixteen truths.
"""

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, models, register_model, type_callable

LANES = 16
ALL_ONES = 2**32 - 1  # a whole number that no other is above


class Lanes(types.Type):
    def __init__(self, kind: str):
        self.kind = kind
        super().__init__(f"Lanes({kind})")


KINDS = {
    "whole": ir.IntType(32),
    "float": ir.DoubleType(),
    "short": ir.FloatType(),
    "mask": ir.IntType(1),
}
WHOLE, FLOAT, SHORT, MASK = (Lanes(kind) for kind in KINDS)


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        super().__init__(manager, lanes, ir.VectorType(KINDS[lanes.kind], LANES))


def _vector(lanes: Lanes) -> ir.VectorType:
    return ir.VectorType(KINDS[lanes.kind], LANES)


def _of_numbers(number: Any) -> Lanes | None:
    """The lanes that hold such numbers."""
    if isinstance(number, types.Float):
        return FLOAT if number == types.float64 else SHORT
    return WHOLE if number in (types.int32, types.uint32) else None


# ---- in and out --------------------------------------------------------------------------------


def all_lanes(number):
    """The same number, a float or a whole one of 32 bits, in all lanes."""
    return np.full(LANES, number)


def lanes_from(first):
    """Whole numbers of 32 bits that count up."""
    return np.uint32(first) + np.arange(LANES, dtype=np.uint32)


def lanes_at(array, i):
    """The numbers from place i on of an array of one dimension; no place is checked."""
    return array[i : i + LANES].copy()


def put_lanes(array, i, lanes):
    """Write them there."""
    array[i : i + LANES] = lanes


@type_callable(all_lanes)
def _type_of_all(context):
    return lambda number: _of_numbers(number)


@type_callable(lanes_from)
def _type_of_from(context):
    return lambda first: WHOLE if isinstance(first, types.Integer) else None


@lower_builtin(lanes_from, types.Integer)
def _from(context, builder, signature, arguments):
    vector = _vector(WHOLE)
    first = context.cast(builder, arguments[0], signature.args[0], types.uint32)
    return builder.add(_spread(builder, first, vector), ir.Constant(vector, list(range(LANES))))


@lower_builtin(all_lanes, types.Any)
def _all(context, builder, signature, arguments):
    return _spread(builder, arguments[0], _vector(signature.return_type))


def _spread(builder, number, vector: ir.VectorType):
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), everywhere)


def _place(context, builder, array_type, array, i, i_type, lanes: Lanes):
    made = context.make_array(array_type)(context, builder, array)
    i = context.cast(builder, i, i_type, types.intp)
    return builder.bitcast(builder.gep(made.data, [i]), _vector(lanes).as_pointer())


@type_callable(lanes_at)
def _type_of_lanes_at(context):
    return lambda array, i: _of_numbers(array.dtype)


@lower_builtin(lanes_at, types.Array, types.Integer)
def _lanes_at(context, builder, signature, arguments):
    (array_type, i_type), (array, i) = signature.args, arguments
    place = _place(context, builder, array_type, array, i, i_type, signature.return_type)
    return builder.load(place, align=4)


@type_callable(put_lanes)
def _type_of_put_lanes(context):
    return lambda array, i, lanes: types.void if _of_numbers(array.dtype) == lanes else None


@lower_builtin(put_lanes, types.Array, types.Integer, Lanes)
def _put_lanes(context, builder, signature, arguments):
    (array_type, i_type, kind), (array, i, lanes) = signature.args, arguments
    place = _place(context, builder, array_type, array, i, i_type, kind)
    builder.store(lanes, place, align=4)
    return context.get_dummy_value()


def lanes_from_places(array, places, mask):
    """The numbers at places of an array of one dimension where the mask holds; 0 elsewhere, where
    nothing is read."""
    found = np.zeros(LANES, array.dtype)
    found[mask] = array[places[mask]]
    return found


@type_callable(lanes_from_places)
def _type_of_places(context):
    def type_of(array, places, mask):
        return _of_numbers(array.dtype) if places == WHOLE and mask == MASK else None

    return type_of


@lower_builtin(lanes_from_places, types.Array, Lanes, Lanes)
def _from_places(context, builder, signature, arguments):
    made = context.make_array(signature.args[0])(context, builder, arguments[0])
    vector, number = _vector(signature.return_type), KINDS[signature.return_type.kind]
    pointers = ir.VectorType(number.as_pointer(), LANES)
    address, bytes_each = ir.VectorType(ir.IntType(64), LANES), context.get_abi_sizeof(number)
    first = _spread(builder, builder.ptrtoint(made.data, ir.IntType(64)), address)
    ahead = builder.mul(
        builder.zext(arguments[1], address), ir.Constant(address, [bytes_each] * LANES)
    )
    places = builder.inttoptr(builder.add(first, ahead), pointers)
    suffix = {"whole": "v16i32", "float": "v16f64", "short": "v16f32"}[signature.return_type.kind]
    declared = ir.FunctionType(vector, [pointers, ir.IntType(32), _vector(MASK), vector])
    gather = cgutils.get_or_insert_function(
        builder.module, declared, f"llvm.masked.gather.{suffix}.v16p0"
    )
    nothing = ir.Constant(vector, [0 if number == KINDS["whole"] else 0.0] * LANES)
    return builder.call(gather, (places, ir.IntType(32)(bytes_each), arguments[2], nothing))


def put_some(array, i, lanes, mask):
    """Write the whole numbers of lanes where a mask holds one behind the other from place i on, and
    anything up to sixteen places from there."""
    some = lanes[mask]
    array[int(i) : int(i) + len(some)] = some


@type_callable(put_some)
def _type_of_put_some(context):
    return lambda array, i, lanes, mask: types.void if lanes == WHOLE and mask == MASK else None


@lower_builtin(put_some, types.Array, types.Integer, Lanes, Lanes)
def _put_some(context, builder, signature, arguments):
    (array_type, i_type, kind, _), (array, i, lanes, mask) = signature.args, arguments
    vector = _vector(kind)
    declared = ir.FunctionType(vector, [vector, _vector(MASK), vector])
    compress = cgutils.get_or_insert_function(
        builder.module, declared, "llvm.experimental.vector.compress.v16i32"
    )
    packed = builder.call(compress, [lanes, mask, ir.Constant(vector, ir.Undefined)])
    place = _place(context, builder, array_type, array, i, i_type, kind)
    builder.store(packed, place, align=4)
    return context.get_dummy_value()


# ---- arithmetic --------------------------------------------------------------------------------


def plus(a, b):
    return a + b


def minus(a, b):
    return a - b


def times(a, b):
    return a * b


def over(a, b):
    """Of floats; as everywhere in kernels, to divide by 0 is no error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return a / b


_WORDS = {plus: ("add", "fadd"), minus: ("sub", "fsub"), times: ("mul", "fmul"), over: ("", "fdiv")}
_CONTRACTED = "contract"  # a product and a sum may be one instruction, which rounds once


def _same(context):
    return lambda a, b: a if isinstance(a, Lanes) and a == b and a != MASK else None


def _calculate(words, context, builder, signature, arguments):
    calculate = getattr(builder, words[signature.return_type != WHOLE])
    if signature.return_type == SHORT:
        return calculate(*arguments, flags=(_CONTRACTED,))
    return calculate(*arguments)


def as_floats(whole):
    """Whole numbers, below 2**31, as floats."""
    return whole.astype(np.float64)


def as_shorts(whole):
    """Whole numbers, up to 2**24, as short floats."""
    return whole.astype(np.float32)


def as_long(short):
    """Short floats as floats."""
    return short.astype(np.float64)


@type_callable(as_floats)
def _type_of_floats(context):
    return lambda whole: FLOAT if whole == WHOLE else None


@type_callable(as_shorts)
def _type_of_shorts(context):
    return lambda whole: SHORT if whole == WHOLE else None


@type_callable(as_long)
def _type_of_long(context):
    return lambda short: FLOAT if short == SHORT else None


@lower_builtin(as_floats, Lanes)
@lower_builtin(as_shorts, Lanes)
def _as_floats(context, builder, signature, arguments):
    return builder.sitofp(arguments[0], _vector(signature.return_type))


@lower_builtin(as_long, Lanes)
def _as_long(context, builder, signature, arguments):
    return builder.fpext(arguments[0], _vector(FLOAT))


# ---- choices -----------------------------------------------------------------------------------


def at_most(a, b):
    """Where a <= b."""
    return a <= b


def below(a, b):
    """Where a < b."""
    return a < b


def both(a, b):
    """Where two masks hold."""
    return a & b


def where(mask, a, b):
    """a where the mask holds, else b."""
    return np.where(mask, a, b)


def low_bits(whole, n):
    """The lowest n bits of whole numbers."""
    return whole & np.uint32((1 << n) - 1)


def without_low_bits(whole, n):
    """The bits above them."""
    return whole >> np.uint32(n)


def has_bit_in(whole, k):
    """Where bit k of whole numbers is set."""
    return (whole >> np.uint32(k)) & np.uint32(1) != 0


def bits_of(mask):
    """The mask as a number: bit k is set where lane k holds."""
    return np.uint64((mask << np.arange(LANES)).sum())


def but_not(a, b):
    """Where a mask holds and another does not."""
    return a & ~b


_SIGNS = {at_most: "<=", below: "<"}


def _masked(context):
    return lambda a, b: MASK if isinstance(a, Lanes) and a == b and a != MASK else None


def _compare(sign, context, builder, signature, arguments):
    compare = builder.icmp_unsigned if signature.args[0] == WHOLE else builder.fcmp_ordered
    return compare(sign, *arguments)


@type_callable(both)
@type_callable(but_not)
def _type_of_both(context):
    return lambda a, b: MASK if a == b == MASK else None


@lower_builtin(both, Lanes, Lanes)
def _both(context, builder, signature, arguments):
    return builder.and_(*arguments)


@lower_builtin(but_not, Lanes, Lanes)
def _but_not(context, builder, signature, arguments):
    return builder.and_(arguments[0], builder.not_(arguments[1]))


@type_callable(has_bit_in)
def _type_of_has_bit(context):
    return lambda whole, k: MASK if whole == WHOLE and isinstance(k, types.Integer) else None


@lower_builtin(has_bit_in, Lanes, types.Integer)
def _has_bit(context, builder, signature, arguments):
    vector = _vector(WHOLE)
    k = context.cast(builder, arguments[1], signature.args[1], types.uint32)
    bit = _spread(builder, builder.shl(ir.IntType(32)(1), k), vector)
    none = ir.Constant(vector, [0] * LANES)
    return builder.icmp_unsigned("!=", builder.and_(arguments[0], bit), none)


@type_callable(low_bits)
@type_callable(without_low_bits)
def _type_of_some_bits(context):
    return lambda whole, n: WHOLE if whole == WHOLE and isinstance(n, types.Integer) else None


@lower_builtin(low_bits, Lanes, types.Integer)
def _low_bits(context, builder, signature, arguments):
    n, one = context.cast(builder, arguments[1], signature.args[1], types.uint32), ir.IntType(32)(1)
    mask = builder.sub(builder.shl(one, n), one)
    return builder.and_(arguments[0], _spread(builder, mask, _vector(WHOLE)))


@lower_builtin(without_low_bits, Lanes, types.Integer)
def _without_low_bits(context, builder, signature, arguments):
    n = context.cast(builder, arguments[1], signature.args[1], types.uint32)
    return builder.lshr(arguments[0], _spread(builder, n, _vector(WHOLE)))


@type_callable(bits_of)
def _type_of_bits(context):
    return lambda mask: types.uint64 if mask == MASK else None


@lower_builtin(bits_of, Lanes)
def _bits(context, builder, signature, arguments):
    bits = builder.bitcast(arguments[0], ir.IntType(LANES))
    return builder.zext(bits, ir.IntType(64))


def n_in(mask):
    """In how many lanes the mask holds."""
    return np.uint64(mask.sum())


@type_callable(n_in)
def _type_of_n_in(context):
    return lambda mask: types.uint64 if mask == MASK else None


@lower_builtin(n_in, Lanes)
def _n_in(context, builder, signature, arguments):
    bits = builder.bitcast(arguments[0], ir.IntType(LANES))
    return builder.ctpop(builder.zext(bits, ir.IntType(64)))


@type_callable(where)
def _type_of_where(context):
    return lambda mask, a, b: a if mask == MASK and isinstance(a, Lanes) and a == b else None


@lower_builtin(where, Lanes, Lanes, Lanes)
def _where(context, builder, signature, arguments):
    return builder.select(*arguments)


# ---- all lanes together ------------------------------------------------------------------------


def least_of(lanes):
    """The least number; of floats none may be NaN."""
    return lanes.min()


def last_of(lanes):
    """The number in the last lane."""
    return lanes[-1]


def running(lanes):
    """In each lane the sum of those up to it; of floats in this order: those next to each other,
    then pairs, then fours, then eights."""
    lanes = lanes.copy()
    for step in (1, 2, 4, 8):
        lanes[step:] = lanes[step:] + lanes[:-step]
    return lanes


@type_callable(least_of)
@type_callable(last_of)
def _type_of_one(context):
    return lambda lanes: {WHOLE: types.uint32, FLOAT: types.float64}.get(lanes)


@lower_builtin(least_of, Lanes)
def _least_of(context, builder, signature, arguments):
    (lanes,) = signature.args
    number, name = KINDS[lanes.kind], "umin.v16i32" if lanes == WHOLE else "fmin.v16f64"
    declared = ir.FunctionType(number, [_vector(lanes)])
    reduce = cgutils.get_or_insert_function(builder.module, declared, f"llvm.vector.reduce.{name}")
    return builder.call(reduce, arguments, fastmath=() if lanes == WHOLE else ("nnan",))


@lower_builtin(last_of, Lanes)
def _last_of(context, builder, signature, arguments):
    return builder.extract_element(arguments[0], ir.IntType(32)(LANES - 1))


@type_callable(running)
def _type_of_running(context):
    return lambda lanes: lanes if lanes in (WHOLE, FLOAT) else None


@lower_builtin(running, Lanes)
def _running(context, builder, signature, arguments):
    lanes, vector = arguments[0], _vector(signature.return_type)
    zeros = ir.Constant(vector, [0.0 if signature.return_type == FLOAT else 0] * LANES)
    add = builder.fadd if signature.return_type == FLOAT else builder.add
    for step in (1, 2, 4, 8):
        # Lanes moved up by a step; zeros come in from below.
        from_where = [k - step if k >= step else LANES for k in range(LANES)]
        moved = ir.Constant(ir.VectorType(ir.IntType(32), LANES), from_where)
        lanes = add(lanes, builder.shuffle_vector(lanes, zeros, moved))
    return lanes


# ---- logarithms --------------------------------------------------------------------------------
# As in fdlibm (Sun Microsystems 1993), without its branches: x = 2^k (1 + f) with 1 + f next to 1,
# s = f / (2 + f), and log(1 + f) = f - s (f - R(s²)) but for f²/2, good to less than an ulp. LLVM's
# own of vectors calls C's function sixteen times.

_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SERIES = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
    2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
    6.666666666666735130e-01,
)  # fmt: skip
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of the square root of a half


def logarithms(lanes):
    """Of floats above 0 that are no smaller than usual."""
    return np.log(lanes)


@type_callable(logarithms)
def _type_of_logarithms(context):
    return lambda lanes: FLOAT if lanes == FLOAT else None


@lower_builtin(logarithms, Lanes)
def _logarithms(context, builder, signature, arguments):
    floats = _vector(FLOAT)
    bits = ir.VectorType(ir.IntType(64), LANES)

    def number(x: float):
        return ir.Constant(floats, [x] * LANES)

    def whole(x: int):
        return ir.Constant(bits, [x] * LANES)

    given = builder.sub(builder.bitcast(arguments[0], bits), whole(_ROOT_HALF))
    exponent = builder.ashr(given, whole(52))
    rest = builder.add(builder.and_(given, whole(2**52 - 1)), whole(_ROOT_HALF))
    f = builder.fsub(builder.bitcast(rest, floats), number(1.0))
    k = builder.sitofp(builder.trunc(exponent, _vector(WHOLE)), floats)
    s = builder.fdiv(f, builder.fadd(f, number(2.0)))
    z = builder.fmul(s, s)
    series = number(_SERIES[0])
    for term in _SERIES[1:]:
        series = builder.fadd(builder.fmul(series, z), number(term))
    series = builder.fmul(series, z)
    half = builder.fmul(number(0.5), builder.fmul(f, f))
    high, low = (builder.fmul(k, number(part)) for part in _LN2)
    small = builder.fadd(builder.fmul(s, builder.fadd(half, series)), low)
    return builder.fsub(high, builder.fsub(builder.fsub(half, small), f))


def _register() -> None:
    for function, words in _WORDS.items():
        type_callable(function)(_same)
        lower_builtin(function, Lanes, Lanes)(partial(_calculate, words))
    for function, sign in _SIGNS.items():
        type_callable(function)(_masked)
        lower_builtin(function, Lanes, Lanes)(partial(_compare, sign))


_register()
