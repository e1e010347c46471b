// The rules for the JavaScript of the Node package and of its tests: typed.js runs them.
import js from '@eslint/js';

const NODE = ['AbortController', 'AbortSignal', 'Buffer', 'FinalizationRegistry', 'URL', 'clearTimeout', 'console', 'fetch', 'global', 'globalThis',
  'performance', 'process', 'setImmediate', 'setTimeout', 'structuredClone'];
const COMMONJS = ['__dirname', '__filename', 'exports', 'module', 'require'];
const globals = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { ecmaVersion: 2022, globals: globals(NODE) },
    rules: {
      curly: ['error', 'multi-line'],
      eqeqeq: 'error',
      'no-constant-condition': ['error', { checkLoops: false }],
      'no-eval': 'error',
      'no-extend-native': 'error',
      'no-new-func': 'error',
      'no-self-compare': 'error',
      'no-shadow': 'error',
      'no-throw-literal': 'error',
      'no-unused-private-class-members': 'error',
      'no-use-before-define': ['error', { functions: false, classes: false }],
      'no-useless-return': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-promise-reject-errors': 'error',
      strict: ['error', 'global'],
    },
  },
  { files: ['**/*.js'], languageOptions: { sourceType: 'commonjs', globals: globals(COMMONJS) } },
  { files: ['**/*.mjs'], languageOptions: { sourceType: 'module' }, rules: { strict: 'off' } },
];
