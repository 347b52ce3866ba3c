/// A permission that a user gives to an app. Messages contain the raw values.
public enum ApplicationPermission: String, Sendable, Hashable, CaseIterable {
  /// Other users of the app may find the user by e-mail address, phone number or record name.
  case userDiscoverability = "USER_DISCOVERABILITY"

  /// The decision of a user about a permission. Messages contain the raw values.
  public enum Status: String, Sendable, Hashable, CaseIterable {
    /// The user has not been asked yet.
    case initialState = "INITIAL_STATE"
    /// The user has refused the permission.
    case denied = "DENIED"
    /// The user has given the permission.
    case granted = "GRANTED"
  }
}
