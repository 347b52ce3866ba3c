import CloudKitModel
import StoreModel

/// A courier reader may listen in several containers with one token, as a web page that uses
/// several containers does. Each container has a row of its own. The first is under the token
/// itself, the others are under names that begin with the token and a space. Base64 has no space,
/// so no token is a prefix of another's names.
extension DeviceToken {
  private static let separator: Character = " "

  /// Whether a text is the name of a further container's row, which is internal to the store.
  /// ``DeviceService/deviceToken(_:kind:)`` finds no token for such a name.
  static func isNameOfRow(_ text: String) -> Bool { text.contains(separator) }

  /// The row with which the reader listens in a further container.
  ///
  /// Its name is the token, the container and the environment with spaces between them. All other
  /// fields are those of this row.
  ///
  /// ```swift
  /// let row = reader.listening(in: "iCloud.com.example.notes", .production)
  /// // row.token == "<token> iCloud.com.example.notes production"
  /// ```
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
