import fc from 'fast-check';

fc.configureGlobal({
  // Without this setting, fast-check makes about ten elements at most, whatever `maxLength` a law names.
  defaultSizeToMaxWhenMaxSpecified: true,
  // A change passes or fails for what it changes. New cases are tried every night, by another seed.
  seed: Number(process.env.PROPERTY_SEED ?? 1),
});
