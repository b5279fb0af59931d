/** Loaded before the program (`--import`): sets its clock wrong by CLOCK_SHIFT_MS. */
const shift = Number(process.env['CLOCK_SHIFT_MS']);
const rightNow = Date.now;
Date.now = () => rightNow() + shift;
globalThis.Date = new Proxy(Date, {
  construct: (target, parts, made) => Reflect.construct(target, parts.length === 0 ? [target.now()] : parts, made),
});
