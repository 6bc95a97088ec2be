"""What numba is told beyond its decorators, so that kernels compile faster and wait less.

A kernel is some hundred small functions, each inlined wherever it is called. Left alone, numba
optimises every one of them by itself, turns it into machine code that nobody calls, and does all of
that again in each function around it. And it passes a tuple member by member, an array as seven
words or more: forty arrays that go from function to function are most of what there is to optimise.
Seconds of processor time to compile what grows gini trees, on one machine, with the same code in
the end:

    as numba does it                              19.4
    tuples by reference (`hold`)                  14.5
    and parts left as they are (`PartCompiler`)    9.2

All this is numba's inside, which it may change without notice: see its bounds in pyproject.toml.
"""

import hashlib
from functools import partial
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.untyped_passes import FixupArgs
from numba.extending import lower_builtin, models, register_model, type_callable

# ---- parts of kernels --------------------------------------------------------------------------


class _NoEnvironment:
    """A code generator, but for what it would note of a function that Python may call."""

    def __init__(self, codegen):
        self._codegen = codegen

    def set_env(self, name, environment) -> None:
        pass

    def __getattr__(self, name):
        return getattr(self._codegen, name)


class PartLibrary(JITCodeLibrary):
    """The code of a function that is inlined wherever it is called, and called from nowhere else:
    optimised only as part of a kernel, and never machine code."""

    @property
    def codegen(self):
        return _NoEnvironment(self._codegen)

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class AsPart(AnalysisPass):
    _name = "as_part"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


# For closures, `with`, arrays calculated as a whole, literal arguments, and what is told of a
# function afterwards: parts have none of these. Without them kernels compile in a tenth less time.
UNUSED = {
    *("WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction"),
    *("InlineInlinables", "FindLiterallyCalls", "LiteralUnroll", "InlineOverloads"),
    *("LiteralPropagationSubPipelinePass", "NopythonRewrites", "AnnotateTypes"),
    *("NoPythonSupportedFeatureValidation", "DumpParforDiagnostics"),
}


class PartCompiler(CompilerBase):
    """Numba's compiler, with libraries of parts."""

    def define_pipelines(self):
        whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
        whole.add_pass_after(AsPart, FixupArgs)
        passes = PassManager(whole.pipeline_name)
        for each, says in whole.passes:
            if each.__name__ not in UNUSED:
                passes.add_pass(each, says)
        passes.finalize()
        return [passes]


# ---- tuples by reference -----------------------------------------------------------------------


class Held(types.Type):
    """A NamedTuple that is passed on as the place where it lies, and so are those in it."""

    def __init__(self, held: Any):
        self.held = held
        # A function's name is made of those of its arguments' types; a tuple's names all members.
        super().__init__(f"Held{hashlib.sha256(held.name.encode()).hexdigest()[:16]}")

    def member(self, name: str) -> Any:
        found = self.held.types[self.held.fields.index(name)]
        return Held(found) if isinstance(found, types.BaseNamedTuple) else found


@register_model(Held)
class HeldModel(models.PrimitiveModel):
    def __init__(self, manager, held):
        super().__init__(manager, held, manager.lookup(held.held).get_value_type().as_pointer())


@infer_getattr
class HeldMembers(AttributeTemplate):
    key = Held

    def generic_resolve(self, held, name):  # type: ignore[override]
        return held.member(name) if name in held.held.fields else None


@lower_getattr_generic(Held)
def member_of(context, builder, held, place, name):
    there = cgutils.gep_inbounds(builder, place, 0, held.held.fields.index(name))
    member = held.member(name)
    if isinstance(member, Held):
        return there
    return impl_ret_borrowed(context, builder, member, builder.load(there))


def hold(given):
    """The NamedTuple, by reference: its members are read as before."""
    return given


@type_callable(hold)
def type_of_held(context):
    def typer(given):
        return Held(given)

    return typer


@lower_builtin(hold, types.BaseNamedTuple)
def lower_hold(context, builder, signature, arguments):
    return cgutils.alloca_once_value(builder, arguments[0])


# ---- memory ------------------------------------------------------------------------------------


def prefetch(array, i) -> None:
    """Fetch a place of an array of one dimension into the cache. Any place may be named."""


@type_callable(prefetch)
def type_of_prefetch(context):
    def typer(array, i):
        return types.void

    return typer


@lower_builtin(prefetch, types.Array, types.Integer)
def lower_prefetch(context, builder, signature, arguments):
    values, place = arguments
    array_type = signature.args[0]
    made = context.make_array(array_type)(context, builder, values)
    address = cgutils.get_item_pointer(
        context, builder, array_type, made, [place], wraparound=False
    )
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    declared = ir.FunctionType(ir.VoidType(), [byte] + 3 * [number])
    fetch = cgutils.get_or_insert_function(builder.module, declared, "llvm.prefetch.p0")
    to_read, keep, data = number(0), number(3), number(1)
    builder.call(fetch, [builder.bitcast(address, byte), to_read, keep, data])
    return context.get_dummy_value()


# ---- choices -----------------------------------------------------------------------------------


def either(is_first, first, second):
    """`first` if that is so, else `second`, without a branch. Written as Python has it, LLVM may
    make a branch of it, to load only what is chosen; where either is as likely, half of these are
    mispredicted, at the price of some twenty instructions."""
    return first if is_first else second


@type_callable(either)
def type_of_either(context):
    def typer(is_first, first, second):
        return first if first == second else None

    return typer


@lower_builtin(either, types.Boolean, types.Any, types.Any)
def lower_either(context, builder, signature, arguments):
    chosen = builder.select(*arguments)
    chosen.set_metadata("unpredictable", builder.module.add_metadata([]))
    return chosen


# ---- vectors -----------------------------------------------------------------------------------
# A loop over a row of ten numbers is too short for LLVM to make vectors of it by itself.


def _add_slices(size: int, to, i, k, given, places) -> None:
    for place in places:
        to[i, k : k + size] += given[place + k : place + k + size]


def add_eight(to, i, k, given, places) -> None:
    """to[i, k : k + 8] += given[place + k : place + k + 8] for each of a tuple of places in turn;
    arrays are in C order, and no place is checked."""
    _add_slices(8, to, i, k, given, places)


def add_two(to, i, k, given, places) -> None:
    """The same for k : k + 2."""
    _add_slices(2, to, i, k, given, places)


def add_one(to, i, k, given, places) -> None:
    """The same for k alone."""
    _add_slices(1, to, i, k, given, places)


@type_callable(add_eight)
@type_callable(add_two)
@type_callable(add_one)
def type_of_add(context):
    def typer(to, i, k, given, places):
        return types.void

    return typer


def _add_vectors(size: int, context, builder, signature, arguments):
    vector = ir.VectorType(ir.DoubleType(), size).as_pointer()
    to_type, _, _, given_type, _ = signature.args
    to, i, k, given, places = arguments

    def pointer(array_type, array, at) -> Any:
        made = context.make_array(array_type)(context, builder, array)
        place = cgutils.get_item_pointer(context, builder, array_type, made, at, wraparound=False)
        return builder.bitcast(place, vector)

    sums = pointer(to_type, to, [i, k])
    total = builder.load(sums, align=8)
    for place in cgutils.unpack_tuple(builder, places):
        own = pointer(given_type, given, [builder.add(place, k)])
        total = builder.fadd(total, builder.load(own, align=8))
    builder.store(total, sums, align=8)
    return context.get_dummy_value()


_sums_and_places = types.Array, types.uint64, types.uint64, types.Array, types.UniTuple
lower_builtin(add_eight, *_sums_and_places)(partial(_add_vectors, 8))
lower_builtin(add_two, *_sums_and_places)(partial(_add_vectors, 2))
lower_builtin(add_one, *_sums_and_places)(partial(_add_vectors, 1))


def rank_sixteen(items, n, ranks) -> None:
    """ranks[k] = how many of the first n items are below items[k], for 16 of them; both arrays are
    of uint32, and no place is checked."""
    ranks[:16] = (items[:n, None] < items[:16]).sum(axis=0)


def rank_32(items, n, ranks) -> None:
    """The same for 32."""
    ranks[:32] = (items[:n, None] < items[:32]).sum(axis=0)


@type_callable(rank_sixteen)
@type_callable(rank_32)
def type_of_rank(context):
    def typer(items, n, ranks):
        return types.void

    return typer


def _rank_vector(size: int, context, builder, signature, arguments):
    items_type, _, ranks_type = signature.args
    number = ir.IntType(32)
    vector = ir.VectorType(number, size)
    items, ranks = (
        context.make_array(kind)(context, builder, value).data
        for kind, value in ((items_type, arguments[0]), (ranks_type, arguments[2]))
    )
    all_items = builder.load(builder.bitcast(items, vector.as_pointer()), align=4)
    below = cgutils.alloca_once_value(builder, vector([0] * size))
    first = ir.Constant(vector, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(number, size), [0] * size)
    with cgutils.for_range(builder, arguments[1]) as loop:
        item = builder.load(builder.gep(items, [loop.index]))
        one = builder.insert_element(first, item, number(0))
        spread = builder.shuffle_vector(one, first, everywhere)
        is_below = builder.sext(builder.icmp_unsigned("<", spread, all_items), vector)
        builder.store(builder.sub(builder.load(below), is_below), below)
    builder.store(builder.load(below), builder.bitcast(ranks, vector.as_pointer()), align=4)
    return context.get_dummy_value()


lower_builtin(rank_sixteen, types.Array, types.int64, types.Array)(partial(_rank_vector, 16))
lower_builtin(rank_32, types.Array, types.int64, types.Array)(partial(_rank_vector, 32))
