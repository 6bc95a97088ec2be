// ---- what the page holds: read back as packing.py wrote it ------------------------------------

const TYPED = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int32: Int32Array, float32: Float32Array,
};
const SHARES = 250; // steps of a probability from 0 to 1
const NO_SHARE = 255;
const NO_NUMBER = 65535;

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = header.arrays.map(({ type, shape, start }) => {
    const n = shape.reduce((a, b) => a * b, 1);
    return Object.assign(new TYPED[type](buffer, 4 + length + start, n), { shape });
  });
  return filled(header.content, arrays);
}

/** The content with arrays in their places. */
function filled(content, arrays) {
  if (Array.isArray(content)) return content.map((part) => filled(part, arrays));
  if (content === null || typeof content !== "object") return content;
  if ("array" in content) return arrays[content.array];
  return Object.fromEntries(Object.entries(content).map(([key, part]) => [key, filled(part, arrays)]));
}

const share = (code) => (code === NO_SHARE ? NaN : code / SHARES);
const number = (coded, i) => (coded.codes[i] === NO_NUMBER ? NaN : coded.low + coded.step * coded.codes[i]);
const range = (n) => Array.from({ length: n }, (_, i) => i);
