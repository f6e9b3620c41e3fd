/** Why a file is not there, in the reader's language, with what to do. */
import type { Catalogue } from "@/i18n";
import type { Upload } from "@/model/uploads";
import { refusalText } from "@/ui/label";

export function problemText(text: Catalogue, { problem, words = "" }: Upload): string {
  if (problem === "unreadable") return text.attach.unreadable;
  if (problem === "too_large") return text.attach.noRoom;
  if (problem === "conflict") return text.attach.damaged;
  return refusalText(text, { code: problem, words });
}
