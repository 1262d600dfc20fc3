/** The hooks of hooks-examples/, through the `imports` of package.json. They are not part of `src`, so they have no types here. */
declare module "#hooks-examples/*";
/** Functions that compiled code calls; the package has no types. */
declare module "@oxc-project/runtime/*";
