/// Something that an app may do only if its user permits it. The raw values are names on the wire.
public enum ApplicationPermission: String, Sendable, Hashable, CaseIterable {
  /// Others who use the app may find the user by e-mail address, phone number or record name.
  case userDiscoverability = "USER_DISCOVERABILITY"

  /// Whether a user permits it. The raw values are names on the wire.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// The user was not asked yet.
    case initialState = "INITIAL_STATE"
    case denied = "DENIED"
    case granted = "GRANTED"
  }
}
