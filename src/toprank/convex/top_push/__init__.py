"""TopPush and the Infinite Push: column generation and gradient projection."""
