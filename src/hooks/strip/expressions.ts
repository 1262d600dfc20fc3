import { TypeParser } from "./types.js";

/** Operators between two operands, `as` and `satisfies` aside. */
const BINARY = new Set("+ - * / % ** & | ^ << && || ?? == != === !== < > <= >= >> >>> instanceof in".split(" "));
const ASSIGNMENT = new Set("= += -= *= /= %= **= &= |= ^= <<= >>= >>>= &&= ||= ??=".split(" "));
const PREFIX = new Set("! ~ + - ++ -- typeof void delete await".split(" "));
/** Keywords that cannot begin an expression. */
const NOT_OPERANDS = new Set(
	"as break case catch const continue default do else enum export extends finally for if in instanceof return switch throw try var while with".split(
		" ",
	),
);
const PARAMETER_MODIFIERS = new Set("public private protected readonly override".split(" "));
/** A line that begins with one of these continues the one before it. */
const CONTINUES = new Set(["(", "[", "`"]);

/** Parses expressions and functions, and blanks the types in them. */
export abstract class ExpressionParser extends TypeParser {
	/** Names that are read as values. */
	readonly used = new Set<string>();
	/** Literal arguments of `import()`. */
	readonly dynamicImports = new Set<string>();

	/** `{ … }` with statements. */
	abstract block(): void;
	/** The rest of a class, after `class`. */
	abstract classRest(): void;

	expression(noIn = false): void {
		do this.assignment(noIn);
		while (this.eat(","));
	}

	/** @param inBranch true between `?` and `:`, where `(a): b` may be no head of an arrow function */
	assignment(noIn = false, inBranch = false): void {
		if (this.#arrow(noIn, inBranch)) return;
		if (this.is("yield")) {
			this.advance();
			this.eat("*");
			const ends = this.token.isOnNewLine || /^[)\]},;:]?$/.test(this.token.text);
			if (!ends) this.assignment(noIn, inBranch);
			return;
		}
		for (;;) {
			this.#unary();
			while ((this.is("as") || this.is("satisfies")) && !this.token.isOnNewLine) this.#cast();
			const operator = this.is(">") ? this.joinGreater() : this.token.text;
			if (this.token.kind !== "punctuator" && !this.isName()) return;
			if (operator === "?") {
				this.advance();
				this.assignment(false, true);
				this.expect(":");
				this.assignment(noIn, inBranch);
				return;
			}
			if (ASSIGNMENT.has(operator)) {
				this.advance();
				this.assignment(noIn, inBranch);
				return;
			}
			if (!BINARY.has(operator) || (noIn && operator === "in")) return;
			this.advance();
		}
	}

	/** Parameters of a function, with brackets. */
	parameters(): void {
		this.expect("(");
		while (!this.is(")")) {
			const next = this.peek();
			if (this.is("@")) this.fail();
			// A parameter property.
			if (PARAMETER_MODIFIERS.has(this.token.text) && (next.kind === "name" || next.text === "{" || next.text === "["))
				this.fail();
			const { start } = this.token;
			if (this.eat("this")) {
				if (this.eat(":")) this.type();
				this.eat(",");
				this.blank(start, this.lastEnd);
				continue;
			}
			this.eat("...");
			this.binding();
			this.#optionalAnnotation();
			if (this.eat("=")) this.assignment();
			if (!this.is(")")) this.expect(",");
		}
		this.expect(")");
	}

	/** A name or pattern that is bound. @returns the bound names */
	binding(): string[] {
		const names: string[] = [];
		if (this.isName()) {
			names.push(this.token.text);
			this.advance();
		} else if (this.eat("[")) {
			while (!this.is("]")) {
				if (this.eat(",")) continue;
				this.eat("...");
				names.push(...this.binding());
				if (this.eat("=")) this.assignment();
				if (!this.is("]")) this.expect(",");
			}
			this.expect("]");
		} else {
			this.expect("{");
			while (!this.is("}")) {
				if (this.eat("...")) names.push(...this.binding());
				else {
					const { text, kind } = this.token;
					this.propertyName();
					if (this.eat(":")) names.push(...this.binding());
					else if (kind === "name") names.push(text);
					else this.fail();
				}
				if (this.eat("=")) this.assignment();
				if (!this.is("}")) this.expect(",");
			}
			this.expect("}");
		}
		return names;
	}

	propertyName(): void {
		if (this.eat("[")) {
			this.assignment();
			this.expect("]");
		} else if (this.token.kind === "punctuator" || this.token.kind === "eof") this.fail();
		else this.advance();
	}

	/** Type parameters, parameters and return type. */
	signature(): void {
		this.blankTypeParameters();
		this.parameters();
		this.blankReturnType();
	}

	/** What `class X extends` names, with its type arguments. */
	superClass(): void {
		this.#operand(true);
	}

	#optionalAnnotation(): void {
		const { start } = this.token;
		if (this.is("?")) this.advance();
		this.blankAnnotation(start);
	}

	/** `as T` or `satisfies T` */
	#cast(): void {
		const { start } = this.token;
		this.advance();
		this.type();
		this.blank(start, this.lastEnd);
		// Without the type, the next line would continue this one.
		if (this.token.isOnNewLine && CONTINUES.has(this.token.text)) this.fail();
	}

	#arrow(noIn: boolean, inBranch: boolean): boolean {
		const next = this.peek();
		const isAsync = this.is("async") && !next.isOnNewLine;
		const head = isAsync ? next : this.token;
		if (head.kind === "name") {
			if (!isAsync && next.text !== "=>") return false;
			const isHead = this.attempt(() => {
				if (isAsync) this.advance();
				this.advance();
				return this.is("=>") && !this.token.isOnNewLine;
			});
			return isHead && this.#arrowBody(noIn, inBranch);
		}
		if (head.text !== "(" && head.text !== "<") return false;
		let isComplete = false;
		const isArrow = this.attempt(() => {
			if (isAsync) this.advance();
			const { start } = this.token;
			this.blankTypeParameters();
			// `return <line break> (a) => a` returns nothing.
			if (this.hasBreak(start, this.lastEnd)) this.fail();
			this.parameters();
			const { lastEnd } = this;
			const isAmbiguous = inBranch && this.is(":");
			this.blankReturnType();
			// No line break may come before the arrow, not even that of a blanked type.
			if (!this.is("=>") || this.hasBreak(lastEnd, this.token.start)) return false;
			if (!isAmbiguous) return true;
			isComplete = this.#arrowBody(noIn, inBranch);
			return this.is(":");
		});
		return isArrow && (isComplete || this.#arrowBody(noIn, inBranch));
	}

	#arrowBody(noIn: boolean, inBranch: boolean): true {
		this.expect("=>");
		if (this.is("{")) this.block();
		else this.assignment(noIn, inBranch);
		return true;
	}

	#unary() {
		while (PREFIX.has(this.token.text) && this.token.kind !== "string") this.advance();
		this.#operand(false);
	}

	/** An operand with everything that follows it: members, calls, `!`, `++`. */
	#operand(isSuperClass: boolean): void {
		this.#primary();
		for (;;) {
			const { start, isOnNewLine } = this.token;
			if (this.token.kind !== "punctuator") return;
			if (this.eat(".")) this.name();
			else if (this.eat("?.")) {
				if (this.isName()) this.advance();
				else if (!this.is("(") && !this.is("[") && !this.is("<")) this.fail();
			} else if (this.eat("[")) {
				this.expression();
				this.expect("]");
			} else if (this.is("(")) this.#callArguments();
			else if (this.is("`")) this.skipTemplate(() => this.expression());
			else if (this.is("!") && !isOnNewLine) {
				this.advance();
				this.blank(start, this.lastEnd);
				if (this.token.isOnNewLine && CONTINUES.has(this.token.text)) this.fail();
			} else if ((this.is("++") || this.is("--")) && !isOnNewLine) {
				this.advance();
				return;
			} else if (this.is("<") && this.attempt(() => this.typeArguments())) {
				// Anything else is an instantiation expression or a strange comparison.
				if (!this.is("(") && !this.is("`") && !(isSuperClass && (this.is("{") || this.is("implements")))) this.fail();
				this.blank(start, this.lastEnd);
			} else return;
		}
	}

	#callArguments(): void {
		this.expect("(");
		while (!this.is(")")) {
			this.eat("...");
			this.assignment();
			if (!this.is(")")) this.expect(",");
		}
		this.expect(")");
	}

	#primary() {
		const { kind, text } = this.token;
		if (kind === "number" || kind === "string") return this.advance();
		if (kind === "name") {
			this.#named(text);
			return;
		}
		if (this.is("/") || this.is("/=")) return this.skipRegExp();
		if (this.is("`")) return this.skipTemplate(() => this.expression());
		if (this.is("{")) return this.#object();
		if (this.eat("(")) {
			this.expression();
			return this.expect(")");
		}
		this.expect("[");
		while (!this.is("]")) {
			if (this.eat(",")) continue;
			this.eat("...");
			this.assignment();
			if (!this.is("]")) this.expect(",");
		}
		this.expect("]");
	}

	#named(text: string) {
		if (NOT_OPERANDS.has(text)) this.fail();
		if (text === "import") return this.#import();
		if (text === "async" && this.peek().text === "function" && !this.peek().isOnNewLine) this.advance();
		if (this.eat("function")) return this.functionRest();
		this.advance();
		if (text === "class") return this.classRest();
		if (text === "new") {
			if (!this.eat(".")) return this.#primary();
			return this.name();
		}
		this.used.add(text);
	}

	/** The rest of a function expression, after `function`. */
	functionRest(): void {
		this.eat("*");
		if (this.isName()) this.advance();
		this.signature();
		this.block();
	}

	/** `import.meta` and `import("literal")` */
	#import() {
		const { start, end } = this.token;
		this.advance();
		if (this.eat(".")) {
			if (!this.is("meta") || this.token.end - start !== META.length) this.fail();
			const next = this.peek();
			if (next.text === "[" || (next.text === "." && !META_MEMBERS.has(this.ahead(2).text))) this.fail();
			this.advance();
			this.blank(start, this.lastEnd, MODULE_META);
			return;
		}
		if (!this.is("(")) this.fail();
		const argument = this.peek();
		if (argument.kind !== "string" || argument.text.includes("\\")) this.fail();
		this.dynamicImports.add(argument.text.slice(1, -1));
		this.blank(start, end, MODULE_IMPORT);
	}

	#object() {
		this.expect("{");
		while (!this.is("}")) {
			if (this.eat("...")) this.assignment();
			else this.#property();
			if (!this.is("}")) this.expect(",");
		}
		this.expect("}");
	}

	#property() {
		const isModifier = () => !/^[(<:,=}]$/.test(this.peek().text) || this.peek().kind === "string";
		if (this.is("async") && isModifier()) this.advance();
		else if ((this.is("get") || this.is("set")) && isModifier()) this.advance();
		this.eat("*");
		const { kind, text } = this.token;
		this.propertyName();
		if (this.is("(") || this.is("<")) {
			this.signature();
			this.block();
		} else if (this.eat(":")) this.assignment();
		else {
			if (kind !== "name") this.fail();
			this.used.add(text);
			if (this.eat("=")) this.assignment();
		}
	}
}

const META = "import.meta";
const META_MEMBERS = new Set(["url", "filename", "dirname"]);
/** What replaces `import.meta`: not longer than it. */
export const MODULE_META = "$pi_meta";
/** What replaces the `import` of `import(…)`: exactly as long. */
export const MODULE_IMPORT = "$pi_in";
