const SPECIAL = /[*?[{]/;

/** True for a pattern; false for a plain path. */
export function isGlob(text: string): boolean {
	return SPECIAL.test(text);
}

/**
 * Tests paths with `/`. `*` and `?` match within a name, `**` any number of folders, `{a,b}` one of several. A pattern without
 * a slash matches names in every folder, and a pattern that matches a folder matches everything in it.
 */
export function createMatcher(pattern: string): (path: string) => boolean {
	const text = pattern.replace(/^\.\//, "").replace(/\/+$/, "");
	const prefix = text.includes("/") ? "" : "(?:.*/)?";
	const expression = new RegExp(`^${prefix}${toExpression(text)}(?:/.*)?$`);
	return (path) => expression.test(path);
}

function toExpression(pattern: string): string {
	let depth = 0;
	return pattern.replace(/\*\*\/|\*\*|[\s\S]/g, (part) => {
		switch (part) {
			case "**/":
				return "(?:.*/)?";
			case "**":
				return ".*";
			case "*":
				return "[^/]*";
			case "?":
				return "[^/]";
			case "{":
				depth++;
				return "(?:";
			case "}":
				if (depth === 0) return "\\}";
				depth--;
				return ")";
			case ",":
				return depth > 0 ? "|" : ",";
			default:
				return part.replace(/[.+^$()|[\]\\]/, "\\$&");
		}
	});
}
