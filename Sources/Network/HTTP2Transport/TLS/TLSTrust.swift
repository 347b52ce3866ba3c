/// Whose certificates a client accepts.
public enum TLSTrust: Sendable, Hashable {
  /// The authorities that the system trusts (Debian: the package ca-certificates).
  case system
  /// Only the authorities in this PEM file.
  case certificateFile(String)
}
