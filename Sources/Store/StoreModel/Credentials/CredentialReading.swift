import CloudKitModel

/// Lookups of the credentials of programs. They change nothing.
public protocol CredentialReading: Sendable {
  /// Returns the credentials registered for a container's environment, revoked ones too, oldest
  /// first.
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials
  /// Returns the credentials registered for any container, revoked ones too, by container and age.
  func programCredentials() async throws -> ProgramCredentials
}
