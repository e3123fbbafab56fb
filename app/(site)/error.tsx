'use client';

export { Failure as default } from '@/components/frame/failure';
