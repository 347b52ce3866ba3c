/// The certificate authorities that a client accepts.
public enum TLSTrust: Sendable, Hashable {
  /// The authorities that the system trusts (Debian: the package ca-certificates).
  case system
  case certificateFile(String)
}
