// Imports modules for the files of the bundle: code that V8 takes from a cache cannot do it on Node 20.
"use strict";

/** @param {string} specifier never relative */
exports.load = (specifier) => import(specifier);
