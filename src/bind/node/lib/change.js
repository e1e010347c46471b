'use strict';
// The change of a table's item as values, as unmarshall() of @aws-sdk/util-dynamodb gives them.

function numberOf(text, numbers) {
  if (typeof numbers === 'function') return numbers(text);
  if (numbers === 'string') return text;
  const value = Number(text);
  if (Number.isSafeInteger(value) || Math.abs(value) <= Number.MAX_SAFE_INTEGER || !Number.isFinite(value)) return value;
  try {
    return BigInt(text);
  } catch {
    throw new RangeError(`Record.change: ${text} is neither a Number nor a BigInt; numbers: "string" gives it as it is`);
  }
}

function mapOf(members, numbers) {
  const map = {};
  for (const name in members) {
    const value = valueOf(members[name], numbers);
    if (name === '__proto__') {
      Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
    } else {
      map[name] = value;
    }
  }
  return map;
}

/** The value of an attribute: an object with one member, whose name is the type. */
function valueOf(attribute, numbers) {
  for (const type in attribute) {
    const value = attribute[type];
    switch (type) {
      case 'S': return value;
      case 'N': return numberOf(value, numbers);
      case 'B': return Buffer.from(value, 'base64');
      case 'BOOL': return value;
      case 'NULL': return null;
      case 'M': return mapOf(value, numbers);
      case 'L': return value.map((one) => valueOf(one, numbers));
      case 'SS': return new Set(value);
      case 'NS': return new Set(value.map((one) => numberOf(one, numbers)));
      case 'BS': return new Set(value.map((one) => Buffer.from(one, 'base64')));
      default: throw new TypeError(`Record.change: there is no type ${JSON.stringify(type)}; the text is in data`);
    }
  }
  throw new TypeError('Record.change: an attribute without a type; the text is in data');
}

function changeOf(event, text, numbers) {
  const members = JSON.parse(text);
  const image = (one) => (one === undefined || one === null ? null : mapOf(one, numbers));
  return { event, keys: mapOf(members.Keys ?? {}, numbers), newImage: image(members.NewImage), oldImage: image(members.OldImage) };
}

module.exports = { changeOf };
