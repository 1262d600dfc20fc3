import { Tokens } from "./tokens.js";

/** Parses types, to find where they end. */
export class TypeParser extends Tokens {
	/** Blanks `: T` if it follows. @param start of what to blank with it, such as `?` */
	blankAnnotation(start = this.token.start): void {
		if (this.eat(":")) this.type();
		if (start < this.lastEnd) this.blank(start, this.lastEnd);
	}

	/** Blanks the return type of a function if one follows. */
	blankReturnType(): void {
		if (!this.is(":")) return;
		const { start } = this.token;
		this.advance();
		this.returnType();
		this.blank(start, this.lastEnd);
	}

	/** A type, or `x is T`, `asserts x`, `asserts x is T`. */
	returnType(): void {
		const next = this.peek();
		if (this.is("asserts") && next.kind === "name" && next.text !== "is" && !next.isOnNewLine) {
			this.advance();
			this.advance();
			if (this.eat("is")) this.type();
			return;
		}
		if (this.token.kind === "name" && next.text === "is" && !next.isOnNewLine) {
			this.advance();
			this.advance();
		}
		this.type();
	}

	/** Blanks `<…>` with type parameters if they follow. */
	blankTypeParameters(): void {
		if (!this.is("<")) return;
		const { start } = this.token;
		this.advance();
		do {
			if (this.is(">")) break;
			while (this.is("const") || (this.is("in") && this.peek().kind === "name") || this.is("out")) {
				if (this.is("out") && this.peek().kind !== "name") break;
				this.advance();
			}
			this.name();
			if (this.eat("extends")) this.type();
			if (this.eat("=")) this.type();
		} while (this.eat(","));
		this.expect(">");
		this.blank(start, this.lastEnd);
	}

	/** `<…>` with type arguments. */
	typeArguments(): void {
		this.expect("<");
		do this.type();
		while (this.eat(","));
		this.expect(">");
	}

	type(): void {
		if (this.#functionType()) return;
		this.#union();
		if (this.is("extends") && !this.token.isOnNewLine) this.#conditional();
	}

	name(): void {
		if (!this.isName()) this.fail();
		this.advance();
	}

	#conditional(): void {
		this.expect("extends");
		if (!this.#functionType()) this.#union();
		this.expect("?");
		this.type();
		this.expect(":");
		this.type();
	}

	#functionType(): boolean {
		if (this.is("abstract") && this.peek().text === "new") this.advance();
		const isNew = this.is("new") && this.eat("new");
		if (!isNew && !this.is("<") && !this.is("(")) return false;
		const isFunction = this.attempt(() => {
			const count = this.replaced.length;
			this.blankTypeParameters();
			this.replaced.length = count;
			if (!this.is("(")) return false;
			this.skipBrackets();
			return this.eat("=>");
		});
		if (isFunction) this.returnType();
		else if (isNew) this.fail();
		return isFunction;
	}

	#union(): void {
		if (!this.eat("|")) this.eat("&");
		do this.#operand();
		while (this.eat("|") || this.eat("&"));
	}

	#operand() {
		while (this.is("keyof") || this.is("unique") || this.is("readonly") || this.is("infer")) {
			const next = this.peek();
			const isOperator = next.kind === "name" || "{([`".includes(next.text);
			if (!isOperator || next.text === "extends") break;
			const isInfer = this.eat("infer");
			if (!isInfer) this.advance();
			else {
				this.name();
				// Whether this belongs to `infer` or to the condition depends on what follows it.
				if (this.is("extends")) this.fail();
				return this.#suffixes();
			}
		}
		if (this.#functionType()) return;
		this.#primary();
		this.#suffixes();
	}

	/** `[]` and `[T]` */
	#suffixes(): void {
		while (this.is("[") && !this.token.isOnNewLine) this.skipBrackets();
	}

	#primary() {
		const { kind } = this.token;
		if (kind === "string" || kind === "number") return this.advance();
		if (this.eat("-")) return this.advance();
		if (this.is("{") || this.is("[") || this.is("(")) return this.skipBrackets();
		if (this.is("`")) return this.skipTemplate(() => this.skipUntilBrace());
		if (this.is("typeof")) this.advance();
		if (this.is("import")) {
			this.advance();
			this.skipBrackets();
		} else this.name();
		while (this.eat(".")) this.name();
		if (this.is("<") && !this.token.isOnNewLine) this.typeArguments();
	}
}
