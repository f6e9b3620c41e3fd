/**
 * The edge at which a part that cannot be drawn ends, so that the rest of the page stays.
 *
 * It draws something in the part's place, and the part again as soon as `of` is another thing: another view, say.
 */
import { Component, type ReactNode } from "react";

interface Props {
  /** What the part is about; nothing else brings a broken part back. */
  of?: unknown;
  /** What is drawn instead. */
  broken: (error: unknown) => ReactNode;
  children: ReactNode;
}

interface State {
  error: unknown;
  isBroken: boolean;
  of: unknown;
}

export class Boundary extends Component<Props, State> {
  override state: State = { error: null, isBroken: false, of: this.props.of };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error, isBroken: true };
  }

  static getDerivedStateFromProps({ of }: Props, state: State): Partial<State> | null {
    return Object.is(of, state.of) ? null : { of, error: null, isBroken: false };
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.broken(this.state.error) : this.props.children;
  }
}
