import CloudKitModel
import StoreModel

/// The names of the rows of a web courier reader.
///
/// A reader may get the notifications of several containers with one token, as a web page that uses
/// several containers does. The store has a row for each container. The first row is stored under
/// the token itself. The others are stored under names that begin with the token and a space. A
/// token contains no space, so these names cannot be those of another reader.
extension DeviceToken {
  private static let separator: Character = " "

  /// Returns whether a text is the name of a further container's row. Only the store uses such
  /// names: ``DeviceService/deviceToken(_:kind:)`` returns nil for them.
  static func isNameOfRow(_ text: String) -> Bool { text.contains(separator) }

  /// Returns the row with which this reader gets the notifications of a further container.
  ///
  /// The name of the row is the token, the container and the environment, with spaces between them.
  /// The other fields are those of this row.
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
      userRecordName: userRecordName, deviceID: deviceID, signIn: signIn,
      registered: registered, expires: expires, endpoint: endpoint)
  }
}
