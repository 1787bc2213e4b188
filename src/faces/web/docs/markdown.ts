/**
 * A document as a page. The library only finds the parts of the text; the markup is made by `html`, which escapes every
 * value, and markup in the text is shown as text.
 */
import type { MarkedToken, Token, Tokens } from 'marked';
import { html, type Html } from '../../html/html.ts';

interface Document {
  /** Its first heading. */
  readonly title: string;
  readonly content: Html;
  readonly anchors: readonly string[];
}

/** The address of a link, null for one without. */
type Address = (href: string) => string | null;

/** The library is loaded with the first document. */
export async function readMarkdown(text: string, address: Address): Promise<Document> {
  const { lexer } = await import('marked');
  const tokens = lexer(text);
  const at = tokens.findIndex(({ type }) => type === 'heading');
  const title = at === -1 ? undefined : (tokens[at] as Tokens.Heading);
  const painter = new Painter(address);
  const content = painter.all(tokens.filter((_, index) => index !== at));
  return { title: title?.text.replaceAll('`', '') ?? 'Document', content, anchors: painter.anchors };
}

class Painter {
  readonly anchors: string[] = [];
  readonly #address: Address;

  constructor(address: Address) {
    this.#address = address;
  }

  all(tokens: readonly Token[] = []): Html {
    return html`${(tokens as readonly MarkedToken[]).map((token) => this.#one(token))}`;
  }

  #one(token: MarkedToken): Html {
    switch (token.type) {
      case 'heading':
        return this.#heading(token);
      case 'paragraph':
        return html`<p>${this.all(token.tokens)}</p>\n`;
      case 'code':
        return html`<pre>${token.text}</pre>\n`;
      case 'list':
        return this.#list(token);
      case 'table':
        return this.#table(token);
      case 'blockquote':
        return html`<blockquote>\n${this.all(token.tokens)}</blockquote>\n`;
      case 'hr':
        return html`<hr>\n`;
      case 'br':
        return html`<br>`;
      case 'text':
        return token.tokens === undefined ? html`${token.text}` : this.all(token.tokens);
      case 'strong':
        return html`<b>${this.all(token.tokens)}</b>`;
      case 'em':
        return html`<i>${this.all(token.tokens)}</i>`;
      case 'codespan':
        return html`<code>${token.text}</code>`;
      case 'link':
        return this.#link(token);
      case 'escape':
      case 'image':
        return html`${token.text}`;
      case 'html':
        // Comments are for tests and editors.
        return /^<!--[^]*-->\s*$/.test(token.raw) ? html`` : html`${token.raw}`;
      case 'space':
      case 'def':
        return html``;
      // An item and its box are shown by its list; our documents strike nothing out.
      case 'list_item':
      case 'checkbox':
      case 'del':
        return html`${token.raw}`;
    }
  }

  #heading({ depth, text, tokens }: Tokens.Heading): Html {
    const anchor = this.#anchor(text);
    const inside = this.all(tokens);
    return depth <= 2 ? html`<h2 id="${anchor}">${inside}</h2>\n` : html`<h3 id="${anchor}">${inside}</h3>\n`;
  }

  /** As GitHub makes them, so that links between documents work in both. */
  #anchor(text: string): string {
    const base = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const same = this.anchors.filter((each) => each.replace(/-\d+$/, '') === base).length;
    const anchor = same === 0 ? base : `${base}-${same}`;
    this.anchors.push(anchor);
    return anchor;
  }

  #list({ ordered, start, items }: Tokens.List): Html {
    const shown = items.map(({ tokens }) => html`<li>${this.all(tokens)}</li>\n`);
    return ordered ? html`<ol start="${start}">\n${shown}</ol>\n` : html`<ul>\n${shown}</ul>\n`;
  }

  #table({ header, rows }: Tokens.Table): Html {
    const heads = header.map(({ tokens }) => html`<th scope="col">${this.all(tokens)}</th>`);
    const lines = rows.map((row) => {
      const cells = row.map(({ tokens }, at) => html`<td data-t="${header[at]?.text ?? ''}">${this.all(tokens)}</td>`);
      return html`<tr>${cells}</tr>\n`;
    });
    return html`<table>\n<thead><tr>${heads}</tr></thead>\n<tbody>\n${lines}</tbody>\n</table>\n`;
  }

  #link({ href, tokens }: Tokens.Link): Html {
    const address = this.#address(href);
    const inside = this.all(tokens);
    return address === null ? inside : html`<a href="${address}">${inside}</a>`;
  }
}
