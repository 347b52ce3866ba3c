/// The version of the program.
public enum ServerVersion {
  /// The version that `petrel version` prints, in the form of https://semver.org.
  public static let current = "0.1.0"
}
