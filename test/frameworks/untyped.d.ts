// Packages without types of their own.
declare module 'express';
declare module 'react-server-dom-parcel/client.edge';
