import fc from 'fast-check';

// Without this setting, fast-check makes about ten elements at most, whatever `maxLength` a law names.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
