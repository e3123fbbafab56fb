import { authHandler } from '@/lib/server/auth/auth-handler';

export const GET = authHandler;
export const POST = authHandler;
