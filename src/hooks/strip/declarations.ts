import { ExpressionParser } from "./expressions.js";

/** Words that another word on the same line makes a modifier of a class member. */
const BLANKED_MODIFIERS = new Set("public private protected readonly override abstract declare".split(" "));
const KEPT_MODIFIERS = new Set("static async get set accessor".split(" "));
/** What follows the name of a class member. */
const AFTER_MEMBER_NAME = /^[(=;}:?!<]?$/;
/** Parses declarations of variables, functions and classes. */
export abstract class DeclarationParser extends ExpressionParser {
	/** Names that are declared at the top level. */
	readonly declared = new Set<string>();
	/** Those declared with `let` or `var`. */
	readonly mutable = new Set<string>();
	/** Number of blocks around the current statement. */
	depth = 0;

	/** Notes a name that is declared here, if this is the top level. */
	declare(names: readonly string[]): void {
		if (this.depth === 0) for (const name of names) this.declared.add(name);
	}

	/** @returns the declared names */
	variables(noIn = false): string[] {
		const isMutable = !this.is("const");
		this.advance();
		const names: string[] = [];
		if (this.is("enum")) this.fail();
		do {
			names.push(...this.binding());
			const { start } = this.token;
			if (this.is("!")) this.advance();
			this.blankAnnotation(start);
			if (this.eat("=")) this.assignment(noIn);
		} while (this.eat(","));
		this.declare(names);
		if (isMutable && this.depth === 0) for (const name of names) this.mutable.add(name);
		return names;
	}

	/** @param start of what belongs to it, such as `export` @returns its name, null for an overload */
	function(start: number): string | null {
		this.eat("async");
		this.expect("function");
		this.eat("*");
		const name = this.token.text;
		this.name();
		const count = this.replaced.length;
		this.signature();
		if (!this.is("{")) {
			this.semicolon();
			this.blankStatement(start, count);
			return null;
		}
		this.declare([name]);
		this.block();
		return name;
	}

	class(): string {
		this.expect("class");
		const name = this.token.text;
		this.declare([name]);
		if (!this.isName()) this.fail();
		this.classRest();
		return name;
	}

	override classRest(): void {
		if (this.isName() && !this.is("extends") && !this.is("implements")) this.advance();
		this.blankTypeParameters();
		if (this.eat("extends")) this.superClass();
		const { start } = this.token;
		if (this.eat("implements")) {
			do this.type();
			while (this.eat(","));
			this.blank(start, this.lastEnd);
		}
		this.expect("{");
		while (!this.is("}")) {
			if (!this.eat(";")) this.#member();
		}
		this.expect("}");
	}

	/** The end of a statement. */
	semicolon(): void {
		if (!this.eat(";") && !this.is("}") && this.token.kind !== "eof" && !this.token.isOnNewLine) this.fail();
	}

	/** Blanks a statement. The semicolon keeps the lines around it apart. */
	blankStatement(start: number, count: number): void {
		this.replaced.length = count;
		this.blank(start, this.lastEnd, ";");
	}

	#member() {
		const { start } = this.token;
		const count = this.replaced.length;
		let isAbstract = false;
		let last = "";
		for (;;) {
			const { text, kind, start: from } = this.token;
			const next = this.peek();
			if (this.is("@")) this.fail();
			if (text === "static" && next.text === "{") {
				this.advance();
				return this.block();
			}
			const isModifier = kind === "name" && (next.kind === "string" || !AFTER_MEMBER_NAME.test(next.text));
			if (!isModifier || next.isOnNewLine) break;
			if (BLANKED_MODIFIERS.has(text)) {
				this.advance();
				this.blank(from, this.lastEnd);
				isAbstract ||= text === "abstract" || text === "declare";
				// Without the modifier, this line would continue the one before it.
				if (this.is("[") || this.is("*")) this.fail();
			} else if (KEPT_MODIFIERS.has(text)) this.advance();
			else break;
			last = text;
		}
		if (this.is("[") && this.peek().kind === "name" && this.ahead(2).text === ":") {
			this.skipBrackets();
			this.blankAnnotation();
			this.semicolon();
			return this.blankStatement(start, count);
		}
		this.eat("*");
		const name = this.token.text;
		this.propertyName();
		const { start: mark } = this.token;
		if (this.is("?") || this.is("!")) {
			this.advance();
			this.blank(mark, this.lastEnd);
		}
		if (this.is("(") || this.is("<")) {
			this.signature();
			if (this.is("{")) return this.block();
			this.semicolon();
			return this.blankStatement(start, count);
		}
		const isTyped = this.is(":");
		this.blankAnnotation();
		// `get` on a line of its own would become a modifier of the next line.
		if (isTyped && !this.is("=") && (KEPT_MODIFIERS.has(name) || last === "accessor")) this.fail();
		if (this.eat("=")) this.assignment();
		this.semicolon();
		if (isAbstract) this.blankStatement(start, count);
	}
}
