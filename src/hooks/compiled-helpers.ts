import decorate from "@oxc-project/runtime/helpers/decorate";
import decorateMetadata from "@oxc-project/runtime/helpers/decorateMetadata";
import decorateParam from "@oxc-project/runtime/helpers/decorateParam";
import usingCtx from "@oxc-project/runtime/helpers/usingCtx";

/** Functions that compiled decorators and `using` call, as the modules that the compiler makes them import. */
export const HELPERS = {
	decorate: { default: decorate },
	decorateMetadata: { default: decorateMetadata },
	decorateParam: { default: decorateParam },
	usingCtx: { default: usingCtx },
};
