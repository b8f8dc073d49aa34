import { Component, type ComponentChildren } from 'preact';
import { sentenceOf } from '../api/errors.js';
import { Button } from '../ui/button.js';
import { Notice } from '../ui/notice.js';

/** Shows that a page has failed, in its place; the other pages can still be used. */
export class ErrorBoundary extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: undefined };

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Notice>
        <strong>This page has failed. </strong>
        {sentenceOf(error)} <Button onClick={() => location.reload()}>Load it again</Button>
      </Notice>
    );
  }
}
