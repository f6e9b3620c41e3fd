/**
 * Markdown as React elements: safe by construction, because no HTML is ever made.
 *
 * The text is cut into blocks; a block whose source did not change is not rendered again, and a growing text is cut
 * again at its end only, so it costs its last block. What is selected in it stays. Raw HTML shows as the text it is, images are named and not loaded, links are checked.
 */
import { lexer, type Token, type Tokens } from "marked";
import { createContext, Fragment, memo, type ReactNode, use, useMemo, useRef, useState } from "react";
import { useText } from "@/store/text";
import { CodeBlock } from "./code";
import { type Grown, grow } from "./growing";
import { safeLink } from "./links";
import { Long } from "./long";
import { GrowingText, Plain } from "./plain";

/** Longer text is shown plain: nobody reads it formatted, and the parser's time is the reader's. */
const LONGEST = 200_000;

/** So much is drawn with its form; a text of many small parts, each of which costs the page, is shown plain too. */
const HEAVIEST = 6_000;

/** A block of code costs as much as so many words. */
const CODE_WEIGHT = 12;

const weights = new WeakMap<Token, number>();

/** What a part of a text costs to draw, with everything in it. */
function weightOf(token: Token): number {
  const known = weights.get(token);
  if (known !== undefined) return known;
  const own = token.type === "code" ? CODE_WEIGHT : 1;
  const weight = own + weightOfAll("tokens" in token ? (token.tokens ?? []) : []) + weightInside(token);
  weights.set(token, weight);
  return weight;
}

/** Items of a list, cells of a table. */
function weightInside(token: Token): number {
  if (token.type === "list") return weightOfAll((token as Tokens.List).items);
  if (token.type !== "table") return 0;
  const { header, rows } = token as Tokens.Table;
  return [header, ...rows].flat().reduce((sum, cell) => sum + 1 + weightOfAll(cell.tokens), 0);
}

function weightOfAll(tokens: readonly Token[]): number {
  return tokens.reduce((sum, token) => sum + weightOf(token), 0);
}

/** Whether the text was seen growing: then its letters are kept in place, also when it is complete. */
const Live = createContext(false);

export const Markdown = memo(function Markdown({ source, isOpen = false }: { source: string; isOpen?: boolean }) {
  const text = useText();
  const [isLive] = useState(isOpen);
  const blocks = useBlocks(source, isOpen);
  if (blocks === null) {
    return (
      <div className="prose">
        <p className="text-faint text-[13px]">{text.markdown.tooLong}</p>
        <pre className="whitespace-pre-wrap font-mono text-[13px]">
          <Long text={source} />
        </pre>
      </div>
    );
  }
  return (
    <Live value={isLive}>
      <div className="prose">
        {blocks.map((token, index) => (
          <Block key={index} raw={token.raw} token={token} isOpen={isOpen && index === blocks.length - 1} />
        ))}
      </div>
    </Live>
  );
});

/** The blocks of a text, or null if it is too long or too heavy for its form. */
function useBlocks(source: string, isOpen: boolean): readonly Token[] | null {
  const known = useRef<Grown | null>(null);
  return useMemo(() => {
    if (source.length > LONGEST) return null;
    if (isOpen) known.current = grow(known.current, source);
    const blocks = isOpen && known.current ? known.current.blocks : lexer(source, { gfm: true });
    return weightOfAll(blocks) > HEAVIEST ? null : blocks;
  }, [source, isOpen]);
}

/** Letters of others, as they are. */
function Letters({ text }: { text: string }) {
  return use(Live) ? <GrowingText text={text} /> : <Plain text={text} />;
}

interface BlockProps {
  raw: string;
  token: Token;
  isOpen: boolean;
}

const Block = memo(
  function Block({ token, isOpen }: BlockProps) {
    return <>{renderBlock(token, isOpen)}</>;
  },
  (before, after) => before.raw === after.raw && before.isOpen === after.isOpen,
);

function renderBlock(token: Token, isOpen = false): ReactNode {
  switch (token.type) {
    case "heading": {
      const heading = token as Tokens.Heading;
      // The page has its own first headings; those of a message begin below them.
      const Level = `h${Math.min(6, heading.depth + 2)}` as "h3";
      return <Level dir="auto">{inline(heading.tokens)}</Level>;
    }
    case "paragraph":
      return <p dir="auto">{inline((token as Tokens.Paragraph).tokens)}</p>;
    case "code": {
      const code = token as Tokens.Code;
      return <CodeBlock code={code.text} language={(code.lang ?? "").split(/\s/)[0] ?? ""} isOpen={isOpen} />;
    }
    case "blockquote":
      return <blockquote dir="auto">{blocksOf((token as Tokens.Blockquote).tokens)}</blockquote>;
    case "list":
      return renderList(token as Tokens.List);
    case "table":
      return renderTable(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "html":
      return <p dir="auto">{<Letters text={token.raw.trim()} />}</p>;
    case "text": {
      const text = token as Tokens.Text;
      return text.tokens ? inline(text.tokens) : <Letters text={decodeMarks(text.text)} />;
    }
    case "space":
    case "def":
      return null;
    default:
      return <p dir="auto">{<Letters text={token.raw} />}</p>;
  }
}

function blocksOf(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{renderBlock(token)}</Fragment>);
}

function renderList(list: Tokens.List): ReactNode {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? "list-none -ml-5" : undefined}>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} readOnly disabled className="mr-2 align-middle" />
      )}
      {blocksOf(item.tokens.filter((token) => token.type !== "checkbox"))}
    </li>
  ));
  return list.ordered ? (
    <ol dir="auto" start={list.start === "" ? 1 : list.start}>
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  );
}

function renderTable(table: Tokens.Table): ReactNode {
  // A wide one scrolls inside its frame, also by keys.
  return (
    <table dir="auto" tabIndex={0}>
      <thead>
        <tr>
          {table.header.map((cell, index) => (
            <th key={index}>{inline(cell.tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, at) => (
              <td key={at}>{inline(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Fragment key={index}>{renderInline(token)}</Fragment>);
}

function renderInline(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline((token as Tokens.Strong).tokens)}</strong>;
    case "em":
      return <em>{inline((token as Tokens.Em).tokens)}</em>;
    case "del":
      return <del>{inline((token as Tokens.Del).tokens)}</del>;
    case "codespan":
      return (
        <code>
          <Letters text={(token as Tokens.Codespan).text} />
        </code>
      );
    case "br":
      return <br />;
    case "link":
      return <Link token={token as Tokens.Link} />;
    case "image":
      return <Image token={token as Tokens.Image} />;
    case "escape":
      return <Letters text={(token as Tokens.Escape).text} />;
    case "text": {
      const text = token as Tokens.Text;
      return text.tokens ? inline(text.tokens) : <Letters text={decodeMarks(text.text)} />;
    }
    default:
      return <Letters text={token.raw} />;
  }
}

function Link({ token }: { token: Tokens.Link }) {
  const text = useText();
  const link = safeLink(token.href, token.text);
  if (!link) return <Letters text={token.raw} />;
  return (
    <>
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" title={link.href}>
        {inline(token.tokens)}
      </a>
      {link.warns && <span className="text-amber text-[0.85em]"> ({text.markdown.linkTo(link.warns)})</span>}
    </>
  );
}

/** Loading a picture tells its server that it was read, so it is only named. */
function Image({ token }: { token: Tokens.Image }) {
  const text = useText();
  const link = safeLink(token.href, "");
  return (
    <span className="rounded-sm border border-line bg-surface px-2 py-0.5 text-[0.9em] text-muted">
      {text.markdown.image}: <Letters text={token.text || token.href} />
      {link && (
        <>
          {" "}
          <a href={link.href} target="_blank" rel="noopener noreferrer nofollow">
            {new URL(link.href).host}
          </a>
        </>
      )}
    </span>
  );
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** The lexer hands some text on with HTML's five marks written out; React would show them as such. */
function decodeMarks(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (mark) => ENTITIES[mark] ?? mark);
}
