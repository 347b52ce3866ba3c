/// A permission that a user gives to an app. The raw values are used on the wire.
public enum ApplicationPermission: String, Sendable, Hashable, CaseIterable {
  /// Other users of the app may find the user by e-mail address, phone number or record name.
  case userDiscoverability = "USER_DISCOVERABILITY"

  /// The decision of a user about a permission. The raw values are used on the wire.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// The user has not been asked yet.
    case initialState = "INITIAL_STATE"
    /// The user has refused the permission.
    case denied = "DENIED"
    /// The user has given the permission.
    case granted = "GRANTED"
  }
}
