import { Component, type ComponentChildren } from 'preact';
import { sentenceOf } from '../api/errors.js';
import { Button } from '../ui/button.js';
import { Notice } from '../ui/notice.js';

/** Shows an error in place of a page that failed. The other pages still work. */
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
        <strong>This page failed. </strong>
        {sentenceOf(error)} <Button onClick={() => location.reload()}>Reload</Button>
      </Notice>
    );
  }
}
