import CloudKitModel

/// Reads what programs prove themselves with.
public protocol CredentialReading: Sendable {
  /// What was registered for a container's environment, oldest first.
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials
  /// What was registered for any container, by container and age.
  func programCredentials() async throws -> ProgramCredentials
}
