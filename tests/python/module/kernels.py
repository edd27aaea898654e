"""The kernels of the tests: PTX for a real device, and Python functions of the same meaning for the model driver.

The functions run on a thread of the model driver, which takes the GIL for them: a test that waits for the device does
so in a call that gives the GIL up.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from holdfast import Kernel, Module
from model_driver import MODEL, HostKernel

# add_one(memory, size_bytes): a byte a thread, of one block.
_ADD_ONE = r"""
.visible .entry add_one(.param .u64 memory, .param .u32 size_bytes)
{
  .reg .pred %past_end;
  .reg .b16 %byte;
  .reg .b32 %index, %size;
  .reg .b64 %base, %offset, %address;

  ld.param.u64 %base, [memory];
  ld.param.u32 %size, [size_bytes];
  mov.u32 %index, %tid.x;
  setp.ge.u32 %past_end, %index, %size;
  @%past_end ret;
  cvta.to.global.u64 %base, %base;
  cvt.u64.u32 %offset, %index;
  add.s64 %address, %base, %offset;
  ld.global.u8 %byte, [%address];
  add.s16 %byte, %byte, 1;
  st.global.u8 [%address], %byte;
  ret;
}
"""

# write_values(out, u8, u32, u64, f32, f64): the values, in places of eight bytes.
_WRITE_VALUES = r"""
.visible .entry write_values(.param .u64 out, .param .u8 a, .param .u32 b, .param .u64 c, .param .f32 d, .param .f64 e)
{
  .reg .b16 %a;
  .reg .b32 %b, %d;
  .reg .b64 %out, %c, %e;

  ld.param.u64 %out, [out];
  ld.param.u8 %a, [a];
  ld.param.u32 %b, [b];
  ld.param.u64 %c, [c];
  ld.param.b32 %d, [d];
  ld.param.b64 %e, [e];
  cvta.to.global.u64 %out, %out;
  st.global.u8 [%out], %a;
  st.global.b32 [%out+8], %b;
  st.global.b64 [%out+16], %c;
  st.global.b32 [%out+24], %d;
  st.global.b64 [%out+32], %e;
  ret;
}
"""

# set_condition(condition, value); count_up_to(condition, counter, limit): adds one to the 32 bits at `counter`, and the
# condition is whether the limit is not reached.
_CONDITIONS = r"""
.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);

.visible .entry set_condition(.param .u64 condition, .param .u32 value)
{
  .reg .b32 %value;
  .reg .b64 %condition;

  ld.param.u64 %condition, [condition];
  ld.param.u32 %value, [value];
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %condition;
    st.param.b32 [second], %value;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}

.visible .entry count_up_to(.param .u64 condition, .param .u64 counter, .param .u32 limit)
{
  .reg .pred %below;
  .reg .b32 %count, %limit, %value;
  .reg .b64 %condition, %counter;

  ld.param.u64 %condition, [condition];
  ld.param.u64 %counter, [counter];
  ld.param.u32 %limit, [limit];
  cvta.to.global.u64 %counter, %counter;
  ld.global.u32 %count, [%counter];
  add.u32 %count, %count, 1;
  st.global.u32 [%counter], %count;
  setp.lt.u32 %below, %count, %limit;
  selp.u32 %value, 1, 0, %below;
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %condition;
    st.param.b32 [second], %value;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
"""

_HEAD = ".version 7.8\n.target sm_70\n.address_size 64\n"


def _value(parameters: Any, index: int, kind: type) -> Any:
    return ctypes.cast(parameters[index], ctypes.POINTER(kind))[0]


def _add_one(parameters: Any, _: Any) -> None:
    memory = _value(parameters, 0, ctypes.c_uint64)
    size_bytes = _value(parameters, 1, ctypes.c_uint32)
    data = (ctypes.c_uint8 * size_bytes).from_address(memory)
    for index in range(size_bytes):
        data[index] = (data[index] + 1) & 0xFF


def _write_values(parameters: Any, _: Any) -> None:
    out = _value(parameters, 0, ctypes.c_uint64)
    kinds = (ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_float, ctypes.c_double)
    for index, kind in enumerate(kinds):
        kind.from_address(out + 8 * index).value = _value(parameters, index + 1, kind)


def _set_condition(parameters: Any, _: Any) -> None:
    MODEL.set_conditional(_value(parameters, 0, ctypes.c_uint64), _value(parameters, 1, ctypes.c_uint32))


def _count_up_to(parameters: Any, _: Any) -> None:
    counter = ctypes.c_uint32.from_address(_value(parameters, 1, ctypes.c_uint64))
    counter.value += 1
    below = counter.value < _value(parameters, 2, ctypes.c_uint32)
    MODEL.set_conditional(_value(parameters, 0, ctypes.c_uint64), int(below))


_BODIES: dict[str, Callable[[Any, Any], None]] = {
    "add_one": _add_one,
    "write_values": _write_values,
    "set_condition": _set_condition,
    "count_up_to": _count_up_to,
}
_TEXTS = {
    "add_one": _ADD_ONE,
    "write_values": _WRITE_VALUES,
    "set_condition": _CONDITIONS,
    "count_up_to": _CONDITIONS,
}

# The model driver calls them for as long as it lives.
_registered: dict[str, Any] = {}


def load_kernel(name: str) -> Kernel:
    """A kernel of a module of its own, which it keeps loaded."""
    return Module.from_code(code_of(name)).kernel(name)


def code_of(name: str) -> str:
    """PTX with the kernel, which the model driver can run from now on."""
    if MODEL is not None and not _registered:
        for each, body in _BODIES.items():
            _registered[each] = HostKernel(body)
            MODEL.register_kernel(each.encode(), _registered[each])
    return _HEAD + _TEXTS[name]
