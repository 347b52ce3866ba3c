/// Which server this is.
public enum ServerVersion {
  /// The version that `petrel version` says, as in https://semver.org.
  public static let current = "0.1.0"
}
