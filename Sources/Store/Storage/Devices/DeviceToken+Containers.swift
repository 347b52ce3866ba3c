import CloudKitModel
import StoreModel

/// A courier's reader may listen in several containers with one token, as a page does that has
/// several. Each has a row of its own: the container that the token was made for under the token
/// itself, the others under names that begin with it. Base64 has no space, so that no token is the
/// beginning of another's names.
extension DeviceToken {
  private static let separator: Character = " "

  /// Whether a text is the name of a further container's row, which only the store uses.
  static func isNameOfRow(_ text: String) -> Bool { text.contains(separator) }

  /// The row with which the reader listens in a further container.
  public func listening(
    in container: String, _ environment: ContainerEnvironment
  ) -> DeviceToken {
    DeviceToken(
      kind: kind,
      token: [token, container, environment.rawValue].joined(separator: String(Self.separator)),
      container: container, environment: environment, apnsEnvironment: apnsEnvironment,
      userRecordName: userRecordName, deviceID: deviceID, registered: registered,
      expires: expires, endpoint: endpoint)
  }
}
