import { DeclarationParser } from "./declarations.js";

/** An import of values. */
export interface ValueImport {
	specifier: string;
	/** Names in the module and in the file; `default` and `*` for these kinds of imports. */
	names: { imported: string; local: string }[];
}

/** Words that begin a statement of TypeScript if a name follows on the same line. */
const DECLARATIONS = new Set(["type", "interface", "abstract", "declare", "enum", "namespace", "module", "global"]);
/** The variable for a default export without a name. */
export const MODULE_DEFAULT = "$pi_export";
/** What replaces `export default`: not longer than it. */
const ASSIGN_DEFAULT = `${MODULE_DEFAULT} =`;

/** Parses a module, blanks its types, imports and exports, and collects the latter. */
export class ModuleParser extends DeclarationParser {
	readonly imports: ValueImport[] = [];
	/** Exported name → name in the file. */
	readonly exports = new Map<string, string>();

	parse(): void {
		if (this.source.startsWith("#!")) this.fail();
		while (this.token.kind !== "eof") this.#statement();
	}

	override block(): void {
		this.expect("{");
		this.depth++;
		while (!this.is("}")) {
			if (this.token.kind === "eof") this.fail();
			this.#statement();
		}
		this.depth--;
		this.expect("}");
	}

	#statement() {
		const { text, kind } = this.token;
		if (kind === "punctuator") {
			if (text === "{") return this.block();
			if (text === ";") return this.advance();
			if (text === "@") this.fail();
			return this.#expressionStatement();
		}
		if (kind !== "name") return this.#expressionStatement();
		const next = this.peek();
		switch (text) {
			case "var":
			case "let":
			case "const":
				this.variables();
				return this.semicolon();
			case "function":
				return this.function(this.token.start);
			case "async":
				if (next.text !== "function" || next.isOnNewLine) return this.#expressionStatement();
				return this.function(this.token.start);
			case "class":
				return this.class();
			case "if":
			case "while":
			case "with":
				this.advance();
				this.#condition();
				this.#statement();
				if (text === "if" && this.eat("else")) this.#statement();
				return;
			case "do":
				this.advance();
				this.#statement();
				this.expect("while");
				this.#condition();
				this.eat(";");
				return;
			case "for":
				return this.#for();
			case "switch":
				return this.#switch();
			case "try":
				return this.#try();
			case "return":
			case "throw":
				if (text === "return" && this.depth === 0) this.fail();
				this.advance();
				if (!this.token.isOnNewLine && !this.is(";") && !this.is("}") && this.token.kind !== "eof") this.expression();
				return this.semicolon();
			case "break":
			case "continue":
			case "debugger":
				this.advance();
				if (this.isName() && !this.token.isOnNewLine) this.advance();
				return this.semicolon();
			case "import":
				return next.text === "(" || next.text === "." ? this.#expressionStatement() : this.#import();
			case "export":
				return this.#export();
		}
		if (DECLARATIONS.has(text) && (next.kind === "name" || next.kind === "string") && !next.isOnNewLine)
			return this.#declaration(this.token.start);
		if (next.text !== ":") return this.#expressionStatement();
		// A label.
		this.advance();
		this.advance();
		this.#statement();
	}

	#expressionStatement(): void {
		this.expression();
		this.semicolon();
	}

	#condition(): void {
		this.expect("(");
		this.expression();
		this.expect(")");
	}

	#for(): void {
		this.expect("for");
		this.eat("await");
		this.expect("(");
		if (this.is("var") || this.is("let") || this.is("const")) this.variables(true);
		else if (!this.is(";")) this.expression(true);
		if (this.eat("of")) this.assignment();
		else if (this.eat("in")) this.expression();
		else {
			this.expect(";");
			if (!this.is(";")) this.expression();
			this.expect(";");
			if (!this.is(")")) this.expression();
		}
		this.expect(")");
		this.#statement();
	}

	#switch(): void {
		this.expect("switch");
		this.#condition();
		this.expect("{");
		this.depth++;
		while (!this.is("}")) {
			if (this.eat("case")) this.expression();
			else if (this.is("default")) this.advance();
			else {
				this.#statement();
				continue;
			}
			this.expect(":");
		}
		this.depth--;
		this.expect("}");
	}

	#try(): void {
		this.expect("try");
		this.block();
		if (this.eat("catch")) {
			if (this.eat("(")) {
				this.binding();
				this.blankAnnotation();
				this.expect(")");
			}
			this.block();
		}
		if (this.eat("finally")) this.block();
	}

	/** `type`, `interface`, `abstract class`. @param start of what belongs to it, such as `export` */
	#declaration(start: number) {
		const word = this.token.text;
		const count = this.replaced.length;
		const from = this.token.start;
		this.advance();
		if (word === "abstract" && this.is("class")) {
			this.blank(from, this.lastEnd);
			this.class();
			return;
		}
		if (word !== "type" && word !== "interface") this.fail();
		this.name();
		this.blankTypeParameters();
		if (word === "type") {
			this.expect("=");
			this.type();
			this.semicolon();
		} else {
			if (this.eat("extends")) {
				do this.type();
				while (this.eat(","));
			}
			if (!this.is("{")) this.fail();
			this.skipBrackets();
		}
		this.blankStatement(start, count);
	}

	#import() {
		if (this.depth > 0) this.fail();
		const { start } = this.token;
		const count = this.replaced.length;
		this.expect("import");
		const names: ValueImport["names"] = [];
		const next = this.peek();
		const isType = this.is("type") && next.text !== "," && (next.text !== "from" || this.ahead(2).text === "from");
		if (isType) this.advance();
		const isEffect = this.token.kind === "string";
		if (this.isName()) {
			names.push({ imported: "default", local: this.token.text });
			this.advance();
			if (!this.is("from")) this.expect(",");
		}
		if (this.eat("*")) {
			this.expect("as");
			names.push({ imported: "*", local: this.token.text });
			this.name();
		} else if (this.is("{")) names.push(...this.#specifiers());
		if (!isEffect) this.expect("from");
		const specifier = this.#moduleName();
		this.blankStatement(start, count);
		if (isType) return;
		for (const { local } of names) this.declared.add(local);
		// An import of nothing but types loads nothing; `used` is complete at the end of the file.
		this.imports.push({ specifier, names });
	}

	/** `{ a, type B, c as d }` without the types; `imported` is the name on the left. */
	#specifiers(): { imported: string; local: string }[] {
		const names: { imported: string; local: string }[] = [];
		this.expect("{");
		while (!this.is("}")) {
			const next = this.peek();
			// `type as as x` and the like.
			const isType = this.is("type") && next.kind === "name";
			if (isType && next.text === "as") this.fail();
			if (isType) this.advance();
			const imported = this.token.text;
			this.name();
			let local = imported;
			if (this.eat("as")) {
				local = this.token.text;
				this.name();
			}
			if (!isType) names.push({ imported, local });
			if (!this.is("}")) this.expect(",");
		}
		this.expect("}");
		return names;
	}

	#moduleName(): string {
		const { kind, text } = this.token;
		if (kind !== "string" || text.includes("\\")) this.fail();
		this.advance();
		this.semicolon();
		return text.slice(1, -1);
	}

	#export() {
		if (this.depth > 0) this.fail();
		const { start } = this.token;
		const count = this.replaced.length;
		this.expect("export");
		const { text } = this.token;
		const next = this.peek();
		const exportNames = (names: readonly (string | null)[]) => {
			for (const name of names) if (name !== null) this.exports.set(name, name);
		};
		const blankKeyword = () => this.blank(start, this.lastEnd);
		if (this.is("{")) {
			for (const { imported, local } of this.#specifiers()) {
				this.exports.set(local, imported);
				this.used.add(imported);
			}
			if (this.is("from")) this.fail();
			this.semicolon();
			return this.blankStatement(start, count);
		}
		if (text === "type" && (next.text === "{" || next.text === "*")) {
			this.advance();
			if (this.is("{")) this.#specifiers();
			else this.advance();
			if (this.eat("as")) this.name();
			if (this.eat("from")) this.#moduleName();
			else this.semicolon();
			return this.blankStatement(start, count);
		}
		if (text === "type" || text === "interface") return this.#declaration(start);
		if (text === "default") return this.#exportDefault(start);
		if (text === "var" || text === "let" || text === "const") {
			blankKeyword();
			exportNames(this.variables());
			return this.semicolon();
		}
		if (text === "function" || text === "async") {
			const name = this.function(start);
			if (name !== null) this.blank(start, start + "export".length);
			return exportNames([name]);
		}
		if (text === "abstract") {
			const from = this.token.start;
			this.advance();
			this.blank(from, this.lastEnd);
		}
		if (!this.is("class")) this.fail();
		this.blank(start, start + "export".length);
		exportNames([this.class()]);
	}

	/** Named functions and classes stay declarations; everything else is assigned. */
	#exportDefault(start: number) {
		this.advance();
		const { lastEnd } = this;
		const { text } = this.token;
		const next = this.peek();
		if (text === "interface" || text === "abstract") this.fail();
		const isAsync = text === "async" && next.text === "function" && !next.isOnNewLine;
		if (text !== "class" && text !== "function" && !isAsync) {
			this.#assignDefault(start, lastEnd);
			this.assignment();
			return this.semicolon();
		}
		const named = [1, 2, 3].map((count) => this.ahead(count)).find((token) => !/^(?:function|\*)$/.test(token.text));
		if (named?.kind === "name" && named.text !== "extends" && named.text !== "implements") {
			const name = text === "class" ? this.class() : this.function(start);
			if (name === null) return;
			this.blank(start, lastEnd);
			this.exports.set("default", name);
			return;
		}
		this.#assignDefault(start, lastEnd);
		if (isAsync) this.advance();
		this.advance();
		if (text === "class") this.classRest();
		else this.functionRest();
		// A declaration ends here, an assignment may go on.
		if (this.token.kind === "punctuator" && !this.is(";")) this.fail();
		this.semicolon();
	}

	#assignDefault(start: number, end: number): void {
		if (this.hasBreak(start, end)) this.fail();
		this.blank(start, end, ASSIGN_DEFAULT);
		this.exports.set("default", MODULE_DEFAULT);
	}
}
