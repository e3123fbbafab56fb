import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import { publicOrigin, ownPath } from '@/lib/server/auth/origin';
import { isSignedIn } from '@/lib/server/auth/session';
import { definePublicPage, titled } from '@/lib/server/page';
import { LoginForm } from './login-form';

export const generateMetadata = titled((words) => words('login.title'));

export default definePublicPage({
  id: 'login',
  public: true,
  render: async (search) => {
    const callbackUrl = ownPath(search.get('callbackUrl'), publicOrigin());
    if (await isSignedIn(await cookies())) redirect(callbackUrl);
    return <LoginForm callbackUrl={callbackUrl} />;
  },
});
