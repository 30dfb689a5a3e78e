package target;

import java.io.FileInputStream;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;

/** Prints a private key as PEM, which keytool cannot. Arguments: key store, its password, alias. */
public final class PrivateKey {
    private PrivateKey() {}

    /** The one thing that it does. */
    public static void main(String[] arguments) throws Exception {
        char[] password = arguments[1].toCharArray();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            store.load(file, password);
        }
        Key key = store.getKey(arguments[2], password);
        System.out.println("-----BEGIN PRIVATE KEY-----");
        System.out.println(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded()));
        System.out.println("-----END PRIVATE KEY-----");
    }
}
