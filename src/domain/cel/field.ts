import { didYouMean } from './refused.ts';
import { type CelShape, NOTHING, word } from './shape.ts';

/** The shape of a field of that name. */
export function fieldOf(shape: CelShape, name: string, refuse: (what: string) => never): CelShape {
  switch (shape.kind) {
    case 'record': {
      const known = Object.keys(shape.fields);
      if (known.includes(name)) return shape.fields[name] ?? NOTHING;
      return refuse(`${shape.what} has no field "${name}"${didYouMean(name, known) || `; it has ${known.join(', ')}`}`);
    }
    case 'map':
      return shape.of;
    case 'unknown':
      return shape;
    case 'list':
      return refuse(`a list has no field "${name}"; test its entries, such as .exists(e, e.${name} == …)`);
    case 'bool':
    case 'number':
    case 'text':
    case 'time':
    case 'duration':
    case 'null':
      return refuse(`${word(shape)} has no field "${name}"`);
  }
}
