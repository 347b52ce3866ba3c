import CloudKitModel

/// Reads the credentials of programs.
public protocol CredentialReading: Sendable {
  /// The credentials registered for a container's environment, oldest first.
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials
  /// The credentials registered for any container, by container and age.
  func programCredentials() async throws -> ProgramCredentials
}
