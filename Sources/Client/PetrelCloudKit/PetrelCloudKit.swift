// The client's module under a name that no module of Apple's has. On Apple's systems Package.swift
// gives this name to the module `CloudKit` itself, so app code that imports it compiles on both.
@_exported import CloudKit
