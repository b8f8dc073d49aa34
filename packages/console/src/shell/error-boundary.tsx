import { Component, type ComponentChildren } from 'preact';
import { sentenceOf } from '../api/errors.js';
import { Button } from '../ui/button.js';
import { Notice } from '../ui/feedback.js';

/** The pause before the page is drawn again, ms. Each one is twice as long as the one before. */
const FIRST_PAUSE = 2000;
const LONGEST_PAUSE = 60_000;

/** Shows an error in place of a page that failed, and draws the page again later. The other pages still work. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: undefined };
  #pause = FIRST_PAUSE;
  #timer: ReturnType<typeof setTimeout> | undefined;

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#retry, this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.#timer);
  }

  #retry = () => {
    clearTimeout(this.#timer);
    this.setState({ error: undefined });
  };

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Notice>
        <strong>This page failed. </strong>
        {sentenceOf(error)} <Button onClick={this.#retry}>Try again</Button>
      </Notice>
    );
  }
}
