/// Which server a container talks to, and as whom. Petrel's own: Apple's framework has no such type.
///
/// Source that is written for Apple's framework needs no mention of it: `CKContainer.default()` and
/// `CKContainer(identifier:)` read it from the environment, and from a file `petrel.json` in the
/// working directory or the nearest directory above it that has one. The environment wins.
///
/// | variable | key in the file | property |
/// | --- | --- | --- |
/// | `PETREL_SERVER` | `server` | ``serverURL`` |
/// | `PETREL_CONTAINER` | `container` | ``containerIdentifier`` |
/// | `PETREL_TOKEN` | `token` | ``webAuthToken`` |
/// | `PETREL_API_TOKEN` | `apiToken` | ``apiToken`` |
/// | `PETREL_DEVICE` | `device` | ``deviceID`` |
/// | `PETREL_ENVIRONMENT` | `environment` | ``environment`` |
/// | `PETREL_STATE` | `state` | ``stateDirectory`` |
///
/// Without a device ID, one is made and kept in the user's configuration directory. A mistake in
/// the configuration is written to standard error and fails each operation with
/// `CKError.badContainer`.
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
  /// The environment of the container; data of the two never mix.
  public enum Environment: String, Sendable, Hashable, CaseIterable {
    case development
    case production
  }

  /// Where the server is: `http` or `https`, a host, and perhaps a path in front of all others.
  public var serverURL: URL
  /// The container that `CKContainer.default()` stands for.
  public var containerIdentifier: String?
  /// Names the user (`ckWebAuthToken`); nil for requests without a user. Where a token came after it in an earlier launch, that
  /// takes its place: see `CKContainer.webAuthToken`.
  public var webAuthToken: String?
  /// Names the app (`ckAPIToken`).
  public var apiToken: String?
  /// Names this device to the server (`clientId`): it gets no notification of its own changes.
  public var deviceID: String
  public var environment: Environment
  /// Where long-lived operations and web auth tokens are kept; nil means `petrel` in the user's state directory
  /// (`$XDG_STATE_HOME`, by default `~/.local/state`).
  public var stateDirectory: URL?

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
