/// The server, the user and the device that a container acts for. An addition of Petrel: Apple's framework has no such
/// type.
///
/// Code written for Apple's framework does not need this type. `CKContainer.default()` and `CKContainer(identifier:)`
/// read the settings from environment variables and from a JSON file. The file is `petrel.json` in the working
/// directory, or in the nearest directory above it that has one. A variable takes precedence over the file.
///
/// - `PETREL_SERVER`, key `server`: ``serverURL``
/// - `PETREL_CONTAINER`, key `container`: ``containerIdentifier``
/// - `PETREL_TOKEN`, key `token`: ``webAuthToken``
/// - `PETREL_API_TOKEN`, key `apiToken`: ``apiToken``
/// - `PETREL_DEVICE`, key `device`: ``deviceID``
/// - `PETREL_ENVIRONMENT`, key `environment`: ``environment``
/// - `PETREL_STATE`, key `state`: ``stateDirectory``
///
/// For example:
///
/// ```json
/// { "server": "http://localhost:8080", "container": "iCloud.com.example.app", "environment": "development" }
/// ```
///
/// Without a device ID, the client creates one and saves it in the user's configuration directory. If a setting is not
/// valid, the client writes the reason to standard error, and each operation fails with `CKError.badContainer`.
///
/// One program can act as several users or devices:
///
/// ```swift
/// let phone = CKContainer(
///   identifier: "iCloud.com.example.app",
///   configuration: PetrelConfiguration(
///     serverURL: server, webAuthToken: token, deviceID: "phone"))
/// ```
public struct PetrelConfiguration: Sendable, Hashable {
  /// The environment of a container. Each environment has its own records, subscriptions and registered devices.
  public enum Environment: String, Sendable, Hashable, CaseIterable {
    /// The environment for apps under development. The server creates record types and fields when records with them
    /// are saved.
    case development
    /// The environment for released apps. Record types and fields must be in the deployed schema.
    case production
  }

  /// The URL of the server: `http` or `https`, a host, and optionally a port and a path. The client puts the path
  /// before the paths of all requests.
  public var serverURL: URL
  /// The identifier of the container that `CKContainer.default()` returns; `nil` when the app names its container
  /// itself.
  public var containerIdentifier: String?
  /// The web auth token that names the user (`ckWebAuthToken`); `nil` for requests without a user.
  ///
  /// An earlier launch with the same configuration may have received a newer token. The client then uses the newer one;
  /// see `CKContainer.webAuthToken`.
  public var webAuthToken: String?
  /// The token that names the app (`ckAPIToken`); `nil` to send none.
  public var apiToken: String?
  /// The ID of this device (`clientId`). Unless the server is configured otherwise, a device gets no notification of a
  /// change that it made itself.
  public var deviceID: String
  /// The environment of the container that requests go to.
  public var environment: Environment
  /// The folder for long-lived operations and web auth tokens.
  ///
  /// `nil` means `petrel` in the user's state directory (`$XDG_STATE_HOME`, by default `~/.local/state`).
  public var stateDirectory: URL?

  /// Creates a configuration without checks. If the URL is not valid, the operations of a container with this
  /// configuration fail with `badContainer`.
  public init(
    serverURL: URL, containerIdentifier: String? = nil, webAuthToken: String? = nil,
    apiToken: String? = nil, deviceID: String, environment: Environment = .development,
    stateDirectory: URL? = nil
  ) {
    self.serverURL = serverURL
    self.containerIdentifier = containerIdentifier
    self.webAuthToken = webAuthToken
    self.apiToken = apiToken
    self.deviceID = deviceID
    self.environment = environment
    self.stateDirectory = stateDirectory
  }
}
