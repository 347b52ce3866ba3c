/// The certificate authorities that a client accepts.
public enum TLSTrust: Sendable, Hashable {
  /// The authorities that the system trusts (Debian: the package ca-certificates).
  case system
  /// Only the authorities whose certificates are in the PEM file at this path.
  case certificateFile(String)
}
