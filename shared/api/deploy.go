package api

import "context"

// listProjects lists the one project.
func (a *API) listProjects(context.Context, params) (answer, error) {
	return answer{"projects": []string{a.Project}}, nil
}

// listVersions lists the one version; none of a project that is not there, as
// scrapyd has it.
func (a *API) listVersions(_ context.Context, p params) (answer, error) {
	project, err := p.need("project")
	if err != nil {
		return nil, err
	}
	if project != a.Project {
		return answer{"versions": []string{}}, nil
	}
	return answer{"versions": []string{a.Version}}, nil
}

// listSpiders lists the project's spiders.
func (a *API) listSpiders(_ context.Context, p params) (answer, error) {
	if err := a.project(p); err != nil {
		return nil, err
	}
	if err := a.version(p); err != nil {
		return nil, err
	}
	return answer{"spiders": append([]string{}, a.Spiders...)}, nil
}

// addVersion does not look at what was sent: whatever it is, it is not taken.
func (a *API) addVersion(context.Context, params) (answer, error) {
	return nil, refuse("no version can be added here: code is deployed with the stack; put the spider into the project's folder spiders and deploy the stack again")
}

func (a *API) delVersion(_ context.Context, p params) (answer, error) {
	if err := a.project(p); err != nil {
		return nil, err
	}
	version, err := p.need("version")
	if err != nil {
		return nil, err
	}
	if version != a.Version {
		return nil, refuse("version '%s' not found", version)
	}
	return nil, refuse("version '%s' cannot be deleted here: code is deployed with the stack; deploy the stack with another version", version)
}

func (a *API) delProject(_ context.Context, p params) (answer, error) {
	if err := a.project(p); err != nil {
		return nil, err
	}
	return nil, refuse("project '%s' cannot be deleted here: code is deployed with the stack; delete the stack", a.Project)
}
