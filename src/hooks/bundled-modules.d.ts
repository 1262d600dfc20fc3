/** The hooks of hooks-examples/, through the `imports` of package.json. They are not part of `src`, so they have no types here. */
declare module "#hooks-examples/*";
